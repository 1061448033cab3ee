// `orbweaver lab revisit`: how fresh a crawl stays when its pages are visited again by one policy or another, all with
// the same number of visits (docs/inside/lab-revisit.md). The pages' changes are made up, or come from a file that
// recorded them. Everything is counted in memory: no page is fetched. Memory: about 100 bytes for each page and 8 for
// each change. Thread rule: main thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/lab/report.h"

namespace orbweaver {

struct RevisitOptions {
  std::uint64_t seed = 1;
  std::string history;  // a file of recorded changes; empty: changes are made up
  // Made up: so many pages, whose rates are spread evenly over the logarithms of these changes a day, for so many days.
  unsigned pages = 2'000;
  double slowest = 0.003;
  double fastest = 10;
  double days = 365;
  double visits_a_day = 0.1;  // for each page, on average
  // Hints, such as sitemaps' dates: the share of changes that are told, and of what is told that is true.
  double told = 0.5;
  double trust = 0.8;
};

Result<Report> lab_revisit(const RevisitOptions& options);

// --- for tests ---

// Moments in days from the beginning, rising.
struct ChangingPage {
  std::vector<double> changes;
  std::vector<double> hints;
  double rate = 0;  // the true one, or as recorded: changes a day
};
struct ChangingWeb {
  std::vector<ChangingPage> pages;
  double days = 0;
};
// Lines of "URL SECONDS", in any order; SECONDS since any moment, with a fraction or without. Errors name the line.
Result<ChangingWeb> read_history(const std::string& text);

enum class RevisitPolicy : std::uint8_t {
  equal,     // all pages equally often
  adaptive,  // node/revisit/adaptive_interval.h
  value,     // node/revisit/crawl_value.h, with rates that are learned
  hinted,    // the same with hints
  known,     // the same with the true rates, without hints
};
struct RevisitResult {
  double freshness = 0;     // share of the time that the crawl's copy of a page is what the page is, over all pages
  double age_days = 0;      // how old an unseen change is, on average over all pages and all of the time
  double found = 0;         // share of the visits that find a change
  double visits_a_day = 0;  // for each page
};
RevisitResult visit_again(const ChangingWeb& web, RevisitPolicy policy, double visits_a_day, double trust);

}  // namespace orbweaver
