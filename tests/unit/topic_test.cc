// A crawl's topic: its words, similarity by TF-IDF, and the scores of a page's links.
#include "node/topic/topic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "node/config/settings_table.h"
#include "node/config/sources/load_settings.h"
#include "node/settings/settings.h"
#include "node/topic/topic_page.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

WordCounts counts_of(std::string_view text) {
  WordCounts counts;
  counts.add(text);
  return counts;
}

Topic topic_of(std::string_view words) {
  const auto topic = Topic::parse(words);
  EXPECT_TRUE(topic) << topic.error().message;
  return topic ? *topic : Topic();
}

TEST(TopicWords, FoldsCapitalsAndLeavesOutStopWords) {
  EXPECT_EQ(topic_words("The Lantern, and the HARBOUR-light (1887)"),
            (std::vector<std::string>{"lantern", "harbour", "light", "1887"}));
  EXPECT_EQ(topic_words("ÜBER Ёлка МОСКВА ΑΘΗΝΑ"), (std::vector<std::string>{"über", "ёлка", "москва", "αθηνα"}));
  EXPECT_EQ(topic_words("“lantern”—harbour\xc2\xa0light"), (std::vector<std::string>{"lantern", "harbour", "light"}));
  EXPECT_EQ(topic_words(std::string(64, 'a') + " " + std::string(65, 'b') + " c9"),
            (std::vector<std::string>{std::string(64, 'a'), "c9"}));
}

TEST(Topic, BadInput_WithoutAWordIsAnError) {
  for (const char* text : {"", "  ", "the of and", ".,;", "the^3"}) {
    const auto topic = Topic::parse(text);
    ASSERT_FALSE(topic) << text;
    EXPECT_NE(topic.error().message.find("no words that tell a topic"), std::string::npos);
  }
  for (const char* text : {"lantern^0", "lantern^-1", "lantern^x", "lantern^1001", "lantern^nan"})
    EXPECT_FALSE(Topic::parse(text)) << text;
  EXPECT_FALSE(Topic::of_document("the of and"));
}

TEST(Topic, ADocumentsWordsComeWithHowOftenTheyAreThere) {
  EXPECT_EQ(*Topic::of_document("Lantern light. The lantern, a LANTERN; and light, harbour"),
            "lantern^3 light^2 harbour^1");
  std::string many;
  for (int word = 0; word < 500; ++word) many += "word" + std::to_string(word) + " ";
  const auto words = Topic::of_document(many);
  ASSERT_TRUE(words);
  EXPECT_EQ(topic_of(*words).terms().size(), max_topic_words);
}

TEST(TopicScorer, Salton1988_CosineOfTfIdf) {
  const TopicScorer scorer(topic_of("lantern harbour"));
  EXPECT_DOUBLE_EQ(scorer.similarity(counts_of("lantern harbour")), 1);
  EXPECT_DOUBLE_EQ(scorer.similarity(counts_of("harbour")), 1 / std::sqrt(2));
  EXPECT_EQ(scorer.similarity(counts_of("garden")), 0);
  EXPECT_EQ(scorer.similarity(counts_of("the")), 0);
  // lantern has (1 + ln 3), garden has 1.
  const double lantern = 1 + std::log(3);
  EXPECT_DOUBLE_EQ(scorer.similarity(counts_of("lantern lantern lantern garden")),
                   lantern / std::sqrt(2) / std::sqrt(lantern * lantern + 1));
}

TEST(TopicScorer, WordsThatAllPagesHaveTellLess) {
  TopicScorer scorer(topic_of("lantern harbour"));
  for (int page = 0; page < 100; ++page) scorer.learn(counts_of("harbour page" + std::to_string(page)));
  EXPECT_GT(scorer.similarity(counts_of("lantern")), 0.9);
  EXPECT_LT(scorer.similarity(counts_of("harbour")), 0.3);
}

TEST(TopicScorer, TheSamePagesInTheSameOrderGiveTheSameScores) {
  TopicScorer a(topic_of("lantern^3 harbour")), b(topic_of("harbour lantern^3"));
  for (int page = 0; page < 50; ++page) {
    const WordCounts words = counts_of("lantern word" + std::to_string(page % 7) + " garden harbour");
    ASSERT_EQ(a.similarity(words), b.similarity(words));
    a.learn(words);
    b.learn(words);
  }
}

TEST(WordCounts, Bounded_GrowsAndIsUsedAgain) {
  WordCounts counts;
  for (int round = 0; round < 3; ++round) {
    counts.clear();
    EXPECT_TRUE(counts.empty());
    for (int word = 0; word < 5000; ++word) counts.add("w" + std::to_string(word % 2500));
    EXPECT_EQ(counts.used().size(), 2500u);
    for (const std::size_t slot : counts.used()) ASSERT_EQ(counts.count_at(slot), 2u);
  }
}

TEST(LinkScore, SharkSearch_HalfInheritedHalfAnchor) {
  EXPECT_DOUBLE_EQ(link_score(0.8, 0, 0), 0.2);
  EXPECT_DOUBLE_EQ(link_score(0, 1, 0), 0.125) << "through a page that is off the topic";
  EXPECT_DOUBLE_EQ(link_score(0, 0, 1), 0.5);
  EXPECT_DOUBLE_EQ(link_score(1, 1, 1), 0.75);
  EXPECT_EQ(topic_score_of(0), 0);
  EXPECT_EQ(topic_score_of(1), 255);
  for (int score = 0; score <= 255; ++score)
    ASSERT_EQ(topic_score_of(topic_score_value(static_cast<std::uint16_t>(score))), score);
}

class TopicPage : public testing::Test {
 protected:
  std::vector<std::uint8_t> scores(std::string_view html, const std::vector<std::string>& links,
                                   std::uint16_t page_score = 0) {
    std::vector<CanonicalUrl> urls;
    for (const std::string& link : links) urls.push_back(*CanonicalUrl::parse(link));
    return pages_.scores(html, *Url::parse("http://a.test/x/"), nullptr, Canonicaliser(default_settings()), urls,
                         page_score);
  }
  TopicPages pages_{topic_of("lantern harbour")};
};

TEST_F(TopicPage, Orders_AnchorsAndAddressesCountForTheirOwnLinks) {
  const auto found =
      scores("<title>x</title><p>words <a href=\"../one\">an old <b>lantern</b></a> <a href=/two>other</a>",
             {"http://a.test/one", "http://a.test/two", "http://a.test/lantern-harbour.html"});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_GT(found[0], found[1]) << "its anchor";
  EXPECT_GT(found[2], found[1]) << "its address";
  EXPECT_GT(found[1], 0) << "the page speaks of a lantern";
}

TEST_F(TopicPage, Orders_APageOnTheTopicAndAGoodScorePassOn) {
  const std::vector<std::string> link = {"http://a.test/one"};
  const auto on = scores("<p>lantern harbour", link);
  EXPECT_GT(pages_.page_similarity(), 0.9);
  const auto off = scores("<p>garden", link);
  EXPECT_EQ(pages_.page_similarity(), 0);
  EXPECT_GT(on[0], off[0]);
  EXPECT_EQ(off[0], 0);
  EXPECT_GT(scores("<p>garden", link, 255)[0], 0) << "the page's own score, in part";
  EXPECT_GT(scores("", link, 255)[0], 0) << "a sitemap has no text";
}

TEST(Settings, BadInput_OrderAndTopicMustFit) {
  using Flags = std::vector<std::pair<std::string, std::string>>;
  const test::TempDir directory;
  std::ofstream(directory.file("sample.html")) << "<title>Lanterns</title><p>lantern harbour lantern";
  std::ofstream(directory.file("empty.txt")) << "";
  std::ofstream(directory.file("common.txt")) << "the of and";
  const auto message = [](const Flags& flags) {
    const auto loaded = load_settings("", flags);
    return loaded ? std::string() : loaded.error().message;
  };
  EXPECT_EQ(message({{"order", "depth"}}), "");
  EXPECT_EQ(message({{"order", "best"}, {"best_by", "opic"}}), "");
  EXPECT_EQ(message({{"order", "best"}, {"topic", "lantern"}}), "");
  EXPECT_NE(message({{"order", "best"}}).find("needs a topic"), std::string::npos);
  EXPECT_NE(message({{"order", "best"}, {"topic", "the of"}}).find("no words that tell a topic"), std::string::npos);
  EXPECT_NE(message({{"topic", "lantern"}}).find("order = best"), std::string::npos);
  EXPECT_NE(message({{"order", "worst"}}).find("breadth, depth, best"), std::string::npos);
  for (const char* file : {"empty.txt", "common.txt", "none.txt"})
    EXPECT_NE(message({{"order", "best"}, {"topic_file", directory.file(file)}}).find(file), std::string::npos) << file;
  EXPECT_NE(message({{"order", "best"}, {"topic", "x1"}, {"topic_file", directory.file("sample.html")}}).find("topic"),
            std::string::npos);
  const auto loaded = load_settings("", {{"order", "best"}, {"topic_file", directory.file("sample.html")}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->values.topic, "lantern^2 harbour^1 lanterns^1");
  EXPECT_TRUE(loaded->given.contains("topic")) << "a joiner insists on it";
}

}  // namespace
}  // namespace orbweaver
