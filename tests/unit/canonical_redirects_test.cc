// Redirects within the canonical form: node/frontier/canonical_redirects.h, docs/reference/canonical-form.md.
#include "node/frontier/canonical_redirects.h"

#include <gtest/gtest.h>

#include <cstring>

#include "node/config/settings_table.h"

namespace orbweaver {
namespace {

class CanonicalRedirectsTest : public testing::Test {
 protected:
  static storage::UrlDigest digest(std::uint32_t number) {
    storage::UrlDigest digest{};
    std::memcpy(digest.data(), &number, sizeof number);
    return digest;
  }
  static PageRead led_to(const std::string& text) {
    PageRead page;
    page.canonical_redirect = *CanonicalUrl::parse(text);
    return page;
  }
  bool follow(std::uint32_t number, const std::string& text) {
    const PageRead page = led_to(text);
    return redirects_.follow(digest(number), &page, false);
  }
  std::string form(std::uint32_t number) const {
    const CanonicalUrl* const form = redirects_.form_of(digest(number));
    return form == nullptr ? "" : form->text();
  }

  Settings settings_ = default_settings();
  CanonicalRedirects redirects_{settings_};
  const PageRead read_{};  // a response that led nowhere
};

TEST_F(CanonicalRedirectsTest, TheFormThatTheServerNamesIsAskedForInPlaceOfTheUrl) {
  EXPECT_EQ(form(1), "");
  EXPECT_TRUE(follow(1, "http://www.a.test/"));
  EXPECT_EQ(form(1), "http://www.a.test/");
  EXPECT_TRUE(follow(1, "https://www.a.test/"));
  EXPECT_EQ(form(1), "https://www.a.test/");
  EXPECT_EQ(form(2), "") << "each URL for itself";
}

TEST_F(CanonicalRedirectsTest, APageThatCameIsForgottenOneThatIsTriedAgainIsNot) {
  ASSERT_TRUE(follow(1, "http://www.a.test/"));
  EXPECT_FALSE(redirects_.follow(digest(1), nullptr, true)) << "no response";
  EXPECT_FALSE(redirects_.follow(digest(1), &read_, true)) << "status 503, say";
  EXPECT_EQ(form(1), "http://www.a.test/");
  EXPECT_FALSE(redirects_.follow(digest(1), &read_, false));
  EXPECT_EQ(form(1), "");
}

TEST_F(CanonicalRedirectsTest, AFailureForGoodIsForgotten) {
  ASSERT_TRUE(follow(1, "http://www.a.test/"));
  EXPECT_FALSE(redirects_.follow(digest(1), nullptr, false));
  EXPECT_EQ(form(1), "");
}

TEST_F(CanonicalRedirectsTest, AUrlThatEndsWithoutAFetchIsForgotten) {
  ASSERT_TRUE(follow(1, "http://www.a.test/"));
  redirects_.forget(digest(1));
  EXPECT_EQ(form(1), "");
  redirects_.forget(digest(1));
}

TEST_F(CanonicalRedirectsTest, CanonicalForm_AtMostRedirectsMaxStepsForAUrl) {
  for (const std::uint32_t most : {0U, 1U, 2U, 20U}) {
    settings_.max_redirects = most;
    std::uint32_t steps = 0;
    while (follow(most, "http://a.test/" + std::to_string(steps)) && steps < 100) ++steps;
    EXPECT_EQ(steps, most);
    EXPECT_EQ(form(most), "") << "there is no end to them, and it is forgotten";
  }
}

TEST_F(CanonicalRedirectsTest, SoManyUrlsAtOnceThenAFurtherOneWaitsForRoom) {
  std::uint32_t number = 0;
  while (!redirects_.full()) ASSERT_TRUE(follow(++number, "http://www.a.test/"));
  EXPECT_EQ(number, 16'384u);
  EXPECT_FALSE(follow(number + 1, "http://www.a.test/"));
  EXPECT_EQ(form(number + 1), "");
  EXPECT_TRUE(follow(1, "https://www.a.test/")) << "those that are there go on";
  redirects_.forget(digest(2));
  EXPECT_FALSE(redirects_.full());
  EXPECT_TRUE(follow(number + 1, "http://www.a.test/"));
}

}  // namespace
}  // namespace orbweaver
