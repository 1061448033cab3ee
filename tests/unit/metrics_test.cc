// The table of metrics and its Prometheus text.
#include "node/process/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace orbweaver {
namespace {

TEST(Metrics, RowsAreUniqueAndNamedAsPrometheusAsks) {
  std::set<std::string_view> names;
  for (const MetricRow& row : metric_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(std::all_of(row.name.begin(), row.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == '_';
    })) << row.name;
    EXPECT_EQ(row.name.ends_with("_total"), row.type == MetricType::counter) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_EQ(row.help.find_first_of("|\n"), std::string_view::npos) << row.name;
  }
  EXPECT_GE(names.size(), 22u);
}

TEST(Metrics, TextFormat004_OneCounterAndOneGauge) {
  EXPECT_EQ(metrics_text({{"urls_queued", 12.5}, {"pages_failed_total", 7}}),
            "# HELP orbweaver_pages_failed_total pages that failed for good since the start of the process\n"
            "# TYPE orbweaver_pages_failed_total counter\n"
            "orbweaver_pages_failed_total 7\n"
            "# HELP orbweaver_urls_queued URLs in state queued that this peer holds\n"
            "# TYPE orbweaver_urls_queued gauge\n"
            "orbweaver_urls_queued 12.5\n");
}

TEST(Metrics, WhatStandsBehindASlashIsTheShare) {
  EXPECT_EQ(metrics_text({{"memory_used_bytes/links", 2}, {"memory_used_bytes/bodies", 1}}),
            "# HELP orbweaver_memory_used_bytes current use of a share of max_memory\n"
            "# TYPE orbweaver_memory_used_bytes gauge\n"
            "orbweaver_memory_used_bytes{share=\"bodies\"} 1\n"
            "orbweaver_memory_used_bytes{share=\"links\"} 2\n");
}

TEST(Metrics, OrTheLabelThatTheRowNames) {
  EXPECT_EQ(metrics_text({{"build_info/1.2.3", 1}}),
            "# HELP orbweaver_build_info 1; its label says the version\n"
            "# TYPE orbweaver_build_info gauge\n"
            "orbweaver_build_info{version=\"1.2.3\"} 1\n");
}

TEST(Metrics, LargeCountersKeepTheirDigits) {
  const std::string text = metrics_text({{"bytes_received_total", 9007199254740991.0}});
  EXPECT_NE(text.find("orbweaver_bytes_received_total 9007199254740991\n"), std::string::npos) << text;
}

TEST(Metrics, EveryRowWithAValueAppearsOnceAndNothingElse) {
  std::vector<std::pair<std::string, double>> values = {{"no_such_row", 1}, {"urls_queued", 1}};
  for (const MetricRow& row : metric_rows()) values.emplace_back(row.name, 3);
  const std::string text = metrics_text(values);
  EXPECT_EQ(text.find("no_such_row"), std::string::npos);
  for (const MetricRow& row : metric_rows()) {
    EXPECT_NE(text.find("\norbweaver_" + std::string(row.name) + " 3\n"), std::string::npos) << row.name;
  }
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), 3 * metric_rows().size());
  EXPECT_EQ(metrics_text({}), "");
}

TEST(Metrics, MarkdownHasARowForEach) {
  const std::string page = metrics_markdown();
  for (const MetricRow& row : metric_rows()) {
    EXPECT_NE(page.find("| `orbweaver_" + std::string(row.name) + "` |"), std::string::npos) << row.name;
  }
}

}  // namespace
}  // namespace orbweaver
