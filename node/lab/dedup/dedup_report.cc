// The results of measure_dedup(), as tables and plots.
#include <algorithm>

#include "node/lab/dedup/dedup.h"

namespace orbweaver {

namespace {

// Wu 2009, 16,000 URLs, ms per check.
struct Source {
  const char* structure;
  double ms;
};
constexpr Source sources[] = {{"generalized", 0.8}, {"list", 15}, {"sqlite", 968}};

double each(std::uint64_t bytes, std::uint64_t urls) {
  return urls == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(urls);
}

Cell restart(const DedupRow& row) {
  if (row.asked_again == row.survived) return std::string("yes");
  // A bitmap that starts empty has a few as seen by chance.
  if (row.survived * 20 <= row.asked_again) return std::string("no");
  return std::to_string(row.survived) + " of " + std::to_string(row.asked_again);
}

Table main_table(std::uint64_t size, const std::vector<DedupRow>& rows) {
  Table table;
  table.title = "Seen before? " + std::to_string(size) + " different URLs";
  table.columns = {{"structure"},
                   {"checks"},
                   {"check median (us)", 2},
                   {"check p99 (us)", 2},
                   {"check mean (us)", 2},
                   {"memory (bytes per URL)", 1},
                   {"disk (bytes per URL)", 1},
                   {"false positives"},
                   {"predicted", 1},
                   {"rate when full", 7},
                   {"predicted rate", 7},
                   {"survives a restart"}};
  for (const DedupRow& row : rows) {
    if (row.size != size) continue;
    std::vector<Cell> cells = {row.kind->description,
                               row.checks,
                               row.median_us,
                               row.p99_us,
                               row.mean_us,
                               each(row.memory_bytes, row.urls),
                               each(row.disk_bytes, row.urls),
                               row.false_positives,
                               row.approximate ? Cell(row.predicted_false_positives) : Cell(std::uint64_t{0}),
                               Cell{},
                               Cell{},
                               restart(row)};
    if (row.approximate) {
      cells[9] = row.full_rate;
      cells[10] = row.predicted_full_rate;
    }
    table.rows.push_back(std::move(cells));
    if (row.stopped)
      table.notes.push_back("Stopped by " + row.why + ": " + row.kind->description + ", with " +
                            std::to_string(row.urls) + " of " + std::to_string(size) +
                            " different URLs in it; its figures are for that number.");
    if (row.false_negatives > 0)
      table.notes.push_back("WRONG: " + row.kind->description + " took " + std::to_string(row.false_negatives) +
                            " URLs that it had seen as new.");
  }
  return table;
}

// How many times slower than the generalized list, next to the source's own ratios.
Table shape_table(std::uint64_t size, const std::vector<DedupRow>& rows) {
  Table table;
  table.title = "The shape: median time a check over that of the generalized list, " + std::to_string(size) + " URLs";
  table.columns = {
      {"structure"}, {"here, median (us)", 2}, {"here (factor)", 1}, {"source (ms)", 1}, {"source (factor)", 1}};
  const auto of = [&](const char* name) {
    return std::find_if(rows.begin(), rows.end(),
                        [&](const DedupRow& row) { return row.size == size && row.kind->name == name; });
  };
  const auto base = of(sources[0].structure);
  if (base == rows.end() || base->median_us <= 0) return table;
  for (const Source& source : sources) {
    const auto row = of(source.structure);
    if (row == rows.end()) continue;
    table.rows.push_back({row->kind->description, row->median_us, row->median_us / base->median_us, source.ms,
                          source.ms / sources[0].ms});
  }
  return table;
}

}  // namespace

Report dedup_report(const DedupConfig& config, const UrlStream& stream, const std::vector<DedupRow>& rows) {
  Report report;
  report.experiment = "dedup";
  std::vector<std::uint64_t> sizes;
  for (const DedupRow& row : rows)
    if (sizes.empty() || sizes.back() != row.size) sizes.push_back(row.size);
  for (const std::uint64_t size : sizes) report.tables.push_back(main_table(size, rows));
  if (!sizes.empty()) {
    report.tables.back().notes.insert(
        report.tables.back().notes.end(),
        {"Median: of blocks of 32 checks timed as a whole. p99: of checks timed singly, less the clock's own time. "
         "Mean: of all, as the structure filled.",
         "False positives: new URLs taken as seen while it filled, and what the formula predicts for that; rate when "
         "full: of " +
             std::to_string(std::max<std::uint64_t>(rows.back().probes, 1'000'000)) +
             " or more URLs that were never asked."});
    if (Table shape = shape_table(sizes.front(), rows); shape.rows.size() > 1)
      report.tables.push_back(std::move(shape));
  }

  Plot course{"Time per check as the structure fills", {"different URLs in it", true}, {"us per check", true}, {}};
  Plot memory{"Memory", {"different URLs", true}, {"bytes per URL in memory", true}, {}};
  for (const DedupRow& row : rows) {
    if (row.size == sizes.back()) course.series.push_back({row.kind->name, row.course});
    auto series = std::find_if(memory.series.begin(), memory.series.end(),
                               [&](const Series& known) { return known.name == row.kind->name; });
    if (series == memory.series.end()) series = memory.series.insert(series, Series{row.kind->name, {}});
    series->points.emplace_back(static_cast<double>(row.urls), each(row.memory_bytes, row.urls));
  }
  report.plots.push_back(std::move(course));
  if (sizes.size() > 1) report.plots.push_back(std::move(memory));

  nlohmann::json structures = nlohmann::json::array();
  for (const DedupRow& row : rows)
    structures.push_back({{"structure", row.kind->name},
                          {"size", row.size},
                          {"urls", row.urls},
                          {"checks", row.checks},
                          {"stopped", row.stopped},
                          {"median_us", row.median_us},
                          {"p99_us", row.p99_us},
                          {"mean_us", row.mean_us},
                          {"memory_bytes", row.memory_bytes},
                          {"disk_bytes", row.disk_bytes},
                          {"approximate", row.approximate},
                          {"false_positives", row.false_positives},
                          {"false_negatives", row.false_negatives},
                          {"predicted_false_positives", row.predicted_false_positives},
                          {"full_rate", row.full_rate},
                          {"predicted_full_rate", row.predicted_full_rate},
                          {"probes", row.probes},
                          {"asked_again", row.asked_again},
                          {"survived", row.survived}});
  report.facts = {{"different_urls", stream.different()},
                  {"checks", stream.checks().size()},
                  {"url_bytes", stream.text_bytes(stream.different())},
                  {"budget_seconds", config.budget.count()},
                  {"bits_per_url", config.plan.bits_per_url},
                  {"hashes", config.plan.hashes},
                  {"bloom_rate", config.plan.bloom_rate},
                  {"cache_entries", config.plan.cache_entries},
                  {"structures", std::move(structures)}};
  return report;
}

}  // namespace orbweaver
