// Redirects within the canonical form: node/frontier/canonical_redirects.h, docs/reference/canonical-form.md.
#include "node/frontier/canonical_redirects.h"

#include <gtest/gtest.h>

#include <cstring>

#include "node/config/settings_table.h"

namespace orbweaver {
namespace {

class CanonicalRedirectsTest : public testing::Test {
 protected:
  // Of two hosts, in partitions 0 and 1.
  static storage::UrlKey key(std::uint32_t number) {
    storage::UrlKey key{{static_cast<ring::Partition>(number % 2), {}}, {}};
    std::memcpy(key.url.data(), &number, sizeof number);
    return key;
  }
  static PageRead led_to(const std::string& text) {
    PageRead page;
    page.canonical_redirect = *CanonicalUrl::parse(text);
    return page;
  }
  bool follow(std::uint32_t number, const std::string& text) {
    const PageRead page = led_to(text);
    return redirects_.follow(key(number), &page, false);
  }
  std::string form(std::uint32_t number) const {
    const CanonicalUrl* const form = redirects_.form_of(key(number));
    return form == nullptr ? "" : form->text();
  }

  Settings settings_ = default_settings();
  CanonicalRedirects redirects_{settings_};
  const PageRead read_{};  // a response that leads nowhere
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
  EXPECT_FALSE(redirects_.follow(key(1), nullptr, true)) << "no response";
  EXPECT_FALSE(redirects_.follow(key(1), &read_, true)) << "status 503, say";
  EXPECT_EQ(form(1), "http://www.a.test/");
  EXPECT_FALSE(redirects_.follow(key(1), &read_, false));
  EXPECT_EQ(form(1), "");
}

TEST_F(CanonicalRedirectsTest, AFailureForGoodIsForgotten) {
  ASSERT_TRUE(follow(1, "http://www.a.test/"));
  EXPECT_FALSE(redirects_.follow(key(1), nullptr, false));
  EXPECT_EQ(form(1), "");
}

TEST_F(CanonicalRedirectsTest, AUrlThatEndsWithoutAFetchIsForgotten) {
  ASSERT_TRUE(follow(1, "http://www.a.test/"));
  redirects_.forget(key(1));
  EXPECT_EQ(form(1), "");
  redirects_.forget(key(1));
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

TEST_F(CanonicalRedirectsTest, ThereIsRoomForAllThatAreNextAtTheirHostsOrInFlight) {
  settings_.max_hosts_in_memory = 50'000;
  settings_.max_fetches = 300;
  EXPECT_EQ(redirects_.max_forms(), 50'300u);
  settings_.max_hosts_in_memory = 10;
  EXPECT_EQ(redirects_.max_forms(), 16'384u);
}

TEST_F(CanonicalRedirectsTest, OfVeryManyUrlsTheFirstOneMakesRoom) {
  const auto most = static_cast<std::uint32_t>(redirects_.max_forms());
  for (std::uint32_t number = 1; number <= most; ++number) ASSERT_TRUE(follow(number, "http://www.a.test/"));
  EXPECT_TRUE(follow(1, "https://www.a.test/")) << "one that is there needs no room";
  EXPECT_NE(form(1), "");
  EXPECT_TRUE(follow(most + 1, "http://www.a.test/")) << "none is turned away: its URL would be asked for without end";
  EXPECT_EQ(form(1), "");
  EXPECT_NE(form(2), "");
  redirects_.forget(key(3));
  EXPECT_TRUE(follow(most + 2, "http://www.a.test/"));
  EXPECT_NE(form(2), "") << "there was room";
}

// F15: a URL may come back with its partition, with as many steps before it as any other.
TEST_F(CanonicalRedirectsTest, WhatAnotherPeerFetchesIsForgotten) {
  for (std::uint32_t number = 1; number <= 4; ++number) ASSERT_TRUE(follow(number, "http://www.a.test/"));
  redirects_.forget(ring::Partition{1});
  EXPECT_EQ(form(1) + form(3), "");
  EXPECT_NE(form(2), "");
  EXPECT_NE(form(4), "");
  const auto most = static_cast<std::uint32_t>(redirects_.max_forms());
  for (std::uint32_t number = 5; number < most + 3; ++number) ASSERT_TRUE(follow(number, "http://www.a.test/"));
  EXPECT_NE(form(2), "") << "there was room for so many";
}

}  // namespace
}  // namespace orbweaver
