// The account of a crawl: its text and its page.
#include "node/cli/crawl_summary.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

using nlohmann::json;

json summary() {
  return {
      {"finished", true},
      {"reason", "nothing is left to fetch"},
      {"pages", 90},
      {"failed", 7},
      {"excluded", 3},
      {"queued", 0},
      {"seconds", 2.25},
      {"reasons", json::array({{{"state", "failed"},
                                {"why", "the server answered 404"},
                                {"count", 7},
                                {"example", "http://a.test/?<script>\"&"},
                                {"fix", "none"}}})},
      {"totals", {{"links_out_of_scope", 5}}},
      {"peers", json::array({{{"id", "0123456789abcdef"}, {"directory", "c/peer-1"}, {"counts", {{"fetched", 90}}}}})},
      {"archive_dirs", {"c/peer-1/archive"}},
      {"out", "c"}};
}

TEST(CrawlSummary, TheTextNamesOutcomeCountsReasonsAndPlaces) {
  EXPECT_EQ(summary_text(summary()),
            "crawl ended: nothing is left to fetch\n"
            "  pages 90  failed 7  excluded 3  still queued 0  in 2.2 s\n"
            "    failed: the server answered 404, 7: http://a.test/?<script>\"&; none\n"
            "  links out of scope, not followed: 5\n"
            "  archive c/peer-1/archive\n"
            "  index   orbweaver index c\n");
}

TEST(CrawlSummary, ACrawlThatStoppedCanBeContinued) {
  json stopped = summary();
  stopped["finished"] = false;
  stopped["reason"] = "interrupted";
  EXPECT_NE(summary_text(stopped).find("crawl stopped: interrupted\n"), std::string::npos);
  EXPECT_NE(summary_text(stopped).find("the same command continues"), std::string::npos);
}

TEST(CrawlSummary, TextFromOutsideIsEscapedOnThePage) {
  const std::string page = summary_html(summary());
  EXPECT_NE(page.find("http://a.test/?&lt;script&gt;&quot;&amp;"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("= discovered<th class=\"n\">100"), std::string::npos) << "the ledger sums";
}

TEST(CrawlSummary, FieldsOfAnotherKindOrNoneAreLeftOut) {
  EXPECT_FALSE(summary_text(json::object()).empty());
  EXPECT_FALSE(summary_html({{"reason", 5}, {"reasons", json::array({json::object()})}}).empty());
}

TEST(CrawlSummary, ItsReasonIsReadBack) {
  const test::TempDir directory;
  EXPECT_EQ(why_it_stopped(directory.path()), "");
  ASSERT_TRUE(write_summary(directory.path(), summary(), Durability::process));
  EXPECT_EQ(why_it_stopped(directory.path()), "crawl ended: nothing is left to fetch");
  std::ofstream(directory.path() + "/summary.json") << "{";
  EXPECT_EQ(why_it_stopped(directory.path()), "");
}

}  // namespace
}  // namespace orbweaver
