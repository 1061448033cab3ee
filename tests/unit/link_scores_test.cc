// Scores by links (node/frontier/link_scores.h).
#include "node/frontier/link_scores.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace orbweaver {
namespace {

ring::Md5 url_of(std::size_t number) { return ring::md5("http://a.test/" + std::to_string(number)); }

TEST(ScoreOfAmount, IsMonotoneWithFourStepsToADoubling) {
  EXPECT_EQ(score_of_amount(0), 0);
  EXPECT_EQ(amount_of_score(0), 0u);
  std::uint16_t last = 0;
  for (std::uint64_t amount = 1; amount < 100'000; ++amount) {
    const std::uint16_t score = score_of_amount(amount);
    ASSERT_GE(score, last) << amount;
    ASSERT_NEAR(static_cast<double>(amount_of_score(score)), static_cast<double>(amount),
                std::max(1.0, static_cast<double>(amount) * 0.13))
        << amount;
    last = score;
  }
  for (const std::uint64_t amount : {std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{1} << 40})
    EXPECT_EQ(score_of_amount(2 * amount) - score_of_amount(amount), 4);
  EXPECT_EQ(score_of_amount(UINT64_MAX), 256);
  for (std::uint16_t score = 9; score <= 256; ++score) EXPECT_EQ(score_of_amount(amount_of_score(score)), score);
  EXPECT_EQ(amount_of_score(257), amount_of_score(256)) << "a peer's bytes may say anything";
}

TEST(LinkScores, ToldOnlyWhenTheScoreRises) {
  LinkScores scores(1024);
  EXPECT_EQ(scores.add(url_of(1), 1), score_of_amount(1)) << "new";
  std::size_t reported = 0;
  for (std::uint64_t links = 2; links <= 1000; ++links) {
    const auto news = scores.add(url_of(1), 1);
    EXPECT_EQ(news.has_value(), score_of_amount(links) > score_of_amount(links - 1)) << links;
    if (news) {
      EXPECT_EQ(*news, score_of_amount(links));
      ++reported;
    }
  }
  EXPECT_LE(reported, 40u) << "a thousand links, four steps to each of ten doublings";
  EXPECT_FALSE(scores.at_least(url_of(1), 5)) << "it has more";
  EXPECT_EQ(scores.at_least(url_of(2), 5), score_of_amount(5));
  EXPECT_FALSE(scores.add(url_of(2), 0));
}

TEST(LinkScores, ATopicsScoreIsToldWhenItRises) {
  LinkScores scores(1024);
  EXPECT_EQ(scores.raise(url_of(1), 0), 0) << "new";
  EXPECT_FALSE(scores.raise(url_of(1), 0));
  EXPECT_EQ(scores.raise(url_of(1), 9), 9);
  EXPECT_FALSE(scores.raise(url_of(1), 8));
}

TEST(LinkScores, Bounded_AFullTableKeepsThoseWithTheMostAndNeverTellsTooMuch) {
  LinkScores scores(1024);
  std::map<std::size_t, std::uint64_t> truth;
  std::map<std::size_t, std::uint16_t> reported;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const double skewed = static_cast<double>(random() % 1'000'000) / 1e6;
    const auto url = static_cast<std::size_t>(20'000 * skewed * skewed * skewed * skewed);
    ++truth[url];
    if (const auto news = scores.add(url_of(url), 1)) reported[url] = std::max(reported[url], *news);
  }
  EXPECT_GT(scores.evictions(), 0u);
  for (const auto& [url, score] : reported) ASSERT_LE(score, score_of_amount(truth[url])) << url;
  std::size_t exact = 0;
  for (std::size_t url = 0; url < 100; ++url) exact += reported[url] == score_of_amount(truth[url]) ? 1 : 0;
  EXPECT_GE(exact, 80u) << "the hundred with the most links, in a table with a twentieth of the URLs";
}

TEST(LinkScores, Bounded_WithoutATableEverythingIsTold) {
  LinkScores scores(0);
  EXPECT_EQ(scores.add(url_of(1), 7), score_of_amount(7));
  EXPECT_EQ(scores.add(url_of(1), 7), score_of_amount(7));
  EXPECT_EQ(scores.raise(url_of(1), 3), 3);
}

TEST(LinkScores, Opic_CashDoesNotOverflow) {
  LinkScores scores(4);
  for (int seed = 0; seed < 1000; ++seed) scores.add(url_of(1), seed_cash);
  EXPECT_FALSE(scores.add(url_of(1), seed_cash)) << "it has all there is";
}

}  // namespace
}  // namespace orbweaver
