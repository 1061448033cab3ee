// Every reason has a name and words; the reason why a robots.txt could not be fetched is shown as such.
#include "node/peer/reason_words.h"

#include <gtest/gtest.h>

#include <set>

namespace orbweaver {
namespace {

using storage::Reason;

std::set<Reason> known_reasons() {
  std::set<Reason> known;
  for (int number = 0; number < 256; ++number)
    if (const auto reason = static_cast<Reason>(number); storage::reason_name(reason) != "unknown")
      known.insert(reason);
  return known;
}

TEST(ReasonWords, EveryReasonHasANameAndWordsOfItsOwn) {
  std::set<std::string> names;
  std::set<std::string> words;
  for (const Reason reason : known_reasons()) {
    const std::string name(storage::reason_name(reason));
    EXPECT_TRUE(names.insert(name).second) << name;
    const ReasonWords said = words_of(reason, 503);
    if (name.find('_') != std::string::npos) {
      EXPECT_EQ(said.what.find(name), std::string::npos) << said.what;
    }
    if (reason == Reason::none) continue;
    EXPECT_FALSE(said.what.empty()) << name;
    EXPECT_TRUE(words.insert(said.what).second) << said.what;
    EXPECT_FALSE(said.fix.empty()) << name;
  }
  EXPECT_GT(words.size(), 40U);
}

TEST(ReasonWords, AReasonOfANewerVersionIsUnknown) {
  EXPECT_EQ(words_of(static_cast<Reason>(250), 0).both(), "unknown");
}

// The numbers on disk and on the wire: docs/reference/formats.md.
TEST(ReasonWords, RobotsCausesAreTheReasonsAnd64) {
  for (const Reason cause : known_reasons()) {
    const Reason reported = storage::robots_reason(cause);
    if (reported == Reason::robots_unreachable) continue;
    EXPECT_EQ(static_cast<int>(reported), 64 + static_cast<int>(cause));
    EXPECT_EQ(storage::robots_cause(reported), cause);
    EXPECT_EQ(storage::reason_name(reported), "robots_" + std::string(storage::reason_name(cause)));
  }
  EXPECT_EQ(storage::robots_reason(Reason::dns), Reason::robots_dns);
  EXPECT_EQ(storage::robots_reason(Reason::tls_untrusted), Reason::robots_tls_untrusted);
  EXPECT_EQ(storage::robots_reason(Reason::http_status), Reason::robots_unreachable);
  EXPECT_EQ(storage::robots_reason(Reason::none), Reason::robots_unreachable);
  EXPECT_EQ(storage::robots_reason(static_cast<Reason>(200)), Reason::robots_unreachable);
  EXPECT_EQ(storage::robots_cause(Reason::robots_unreachable), Reason::http_status);
  for (const Reason other : {Reason::none, Reason::robots, Reason::dns, static_cast<Reason>(250)})
    EXPECT_EQ(storage::robots_cause(other), Reason::none);
}

TEST(ReasonWords, ADeadNameIsNotToldAsADisallow) {
  const ReasonWords dns = words_of(Reason::robots_dns, 0);
  EXPECT_EQ(dns.what, "the host's name does not resolve, so its robots.txt could not be had");
  EXPECT_EQ(dns.fix.find("robots"), std::string::npos);
  EXPECT_EQ(words_of(Reason::robots_connect, 0).fix, words_of(Reason::connect, 0).fix);
  EXPECT_EQ(words_of(Reason::robots_tls_expired, 0).fix, words_of(Reason::tls_expired, 0).fix);
  EXPECT_EQ(words_of(Reason::robots_unreachable, 503).what,
            "the server answered 503 to its robots.txt, which counts as 'disallow all'");
  EXPECT_EQ(words_of(Reason::robots_unreachable, 0).what,
            "its robots.txt could not be had, which counts as 'disallow all'");
}

}  // namespace
}  // namespace orbweaver
