// Tables and plots of the experiments.
#include "node/lab/report.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

Table small() {
  return {.title = "Structures",
          .columns = {{"structure"}, {"bytes a URL", 1}, {"false positives", 3}},
          .rows = {{std::string("a list"), 12.25, std::uint64_t{0}}, {std::string("bloom|k"), {}, 8.89e-5}},
          .notes = {"k is 10."}};
}

TEST(Report, TextAlignsColumnsNumbersToTheRight) {
  EXPECT_EQ(to_text(small()),
            "Structures\n\n"
            "structure  bytes a URL  false positives\n"
            "---------  -----------  ---------------\n"
            "a list            12.2                0\n"
            "bloom|k              -         8.89e-05\n"
            "\nk is 10.\n");
}

TEST(Report, MarkdownEscapesWhatWouldEndACell) {
  EXPECT_EQ(to_markdown(small()),
            "**Structures**\n\n"
            "| structure | bytes a URL | false positives |\n"
            "| --- | ---: | ---: |\n"
            "| a list | 12.2 | 0 |\n"
            "| bloom\\|k | - | 8.89e-05 |\n"
            "\nk is 10.\n");
}

TEST(Report, JsonKeepsNumbersAndSaysNullForWhatWasNotMeasured) {
  const nlohmann::json json = to_json({.experiment = "dedup", .tables = {small()}, .plots = {}});
  EXPECT_EQ(json["tables"][0]["rows"][0]["bytes a URL"], 12.25);
  EXPECT_TRUE(json["tables"][0]["rows"][1]["bytes a URL"].is_null());
}

TEST(Report, PlotLeavesOutWhatALogarithmCannotShow) {
  Plot plot{.title = "a < b", .x = {.label = "size", .logarithmic = true}, .y = {.label = "rate"}, .series = {}};
  plot.series.push_back({"lru", {{0, 5}, {1, 0.25}, {100, 0.75}}});
  const std::string svg = to_svg({plot});
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_NE(svg.find(">lru<"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  std::size_t circles = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) ++circles;
  EXPECT_EQ(circles, 2u);
}

TEST(Report, AnEmptyPlotIsStillAPicture) {
  const std::string svg = to_svg({Plot{.title = "nothing", .x = {.label = "x"}, .y = {.label = "y"}, .series = {}}});
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace orbweaver
