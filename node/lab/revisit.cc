#include "node/lab/revisit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "node/lab/progress.h"
#include "node/revisit/adaptive_interval.h"
#include "node/revisit/change_rate.h"
#include "node/revisit/crawl_value.h"

namespace orbweaver {

namespace {

constexpr double micros_a_day = 24.0 * 3600 * 1e6;
// Visits are made in turns of this length, each with as many as the rate allows.
constexpr double turn_days = 1.0 / 24;
// The first part of the time is for learning, and is not counted.
constexpr double warm_up = 0.2;
// No page waits longer than so many times what it would if all were visited equally often.
constexpr double longest_intervals = 4;

struct Policy {
  RevisitPolicy policy;
  const char* name;
};
constexpr std::array<Policy, 5> policies = {{{RevisitPolicy::equal, "equally often"},
                                             {RevisitPolicy::adaptive, "adaptive"},
                                             {RevisitPolicy::value, "value"},
                                             {RevisitPolicy::hinted, "value, with hints"},
                                             {RevisitPolicy::known, "value, rates known"}}};

// What the crawler knows of a page.
struct Known {
  double visited = 0;
  Duration interval{};
  ChangeRate rate;
  std::size_t changes_seen = 0;  // index: all before it happened before the last visit
  std::size_t hints_seen = 0;
};

// One run of one policy. In each turn the pages that the policy prefers are visited, as many as the rate allows: so all
// policies make equally many visits.
class Crawl {
 public:
  Crawl(const ChangingWeb& web, RevisitPolicy policy, double visits_a_day, double trust)
      : web_(web), policy_(policy), trust_(trust), visits_a_day_(visits_a_day), known_(web.pages.size()) {
    for (Known& page : known_) page.interval = Duration(static_cast<std::int64_t>(micros_a_day / visits_a_day));
  }
  RevisitResult run() {
    const double pages = static_cast<double>(known_.size());
    double allowed = 0;
    for (double now = turn_days; now < web_.days; now += turn_days) {
      allowed += visits_a_day_ * pages * turn_days;
      const auto count = std::min(static_cast<std::size_t>(allowed), known_.size());
      if (count == 0) continue;
      allowed -= static_cast<double>(count);
      for (const std::size_t page : preferred(now, count)) visit(page, now);
    }
    for (std::size_t page = 0; page < known_.size(); ++page) count_until(page, web_.days);
    const double counted = (1 - warm_up) * web_.days * pages;
    return {.freshness = fresh_days_ / counted,
            .age_days = age_days_ / counted,
            .found = visits_ == 0 ? 0 : static_cast<double>(found_) / static_cast<double>(visits_),
            .visits_a_day = static_cast<double>(visits_) / counted};
  }

 private:
  std::uint32_t hints_until(std::size_t page, double now) const {
    const std::vector<double>& hints = web_.pages[page].hints;
    const auto begin = hints.begin() + static_cast<std::ptrdiff_t>(known_[page].hints_seen);
    return static_cast<std::uint32_t>(std::upper_bound(begin, hints.end(), now) - begin);
  }
  // The greater, the sooner the page is to be visited.
  double preference(std::size_t page, double now) const {
    const Known& known = known_[page];
    const double days = now - known.visited;
    // No page is given up: one that changes too fast to be followed is visited a few times less often than others.
    constexpr double surely = 1e9;
    if (days * visits_a_day_ >= longest_intervals) return surely * days;
    switch (policy_) {
      case RevisitPolicy::equal:
      case RevisitPolicy::adaptive:
        return days * micros_a_day / static_cast<double>(known.interval.count());
      case RevisitPolicy::known:
        return crawl_value(std::max(web_.pages[page].rate, ChangeRate::least), 1, days);
      case RevisitPolicy::value:
        return crawl_value(known.rate.a_day(), 1, days);
      case RevisitPolicy::hinted:
        return crawl_value(known.rate.a_day(), 1,
                           days_with_hints(known.rate.a_day(), days, hints_until(page, now), trust_));
    }
    return 0;
  }
  std::vector<std::size_t> preferred(double now, std::size_t count) {
    order_.clear();
    for (std::size_t page = 0; page < known_.size(); ++page) order_.emplace_back(-preference(page, now), page);
    std::nth_element(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count - 1), order_.end());
    std::vector<std::size_t> pages;
    for (std::size_t i = 0; i < count; ++i) pages.push_back(order_[i].second);
    return pages;
  }
  void visit(std::size_t page, double now) {
    Known& known = known_[page];
    const std::vector<double>& changes = web_.pages[page].changes;
    count_until(page, now);
    const auto seen = static_cast<std::size_t>(std::upper_bound(changes.begin(), changes.end(), now) - changes.begin());
    const bool changed = seen > known.changes_seen;
    known.rate.visited(Duration(static_cast<std::int64_t>((now - known.visited) * micros_a_day)), changed);
    if (policy_ == RevisitPolicy::adaptive) known.interval = next_interval(known.interval, changed);
    known.changes_seen = seen;
    known.hints_seen += hints_until(page, now);
    known.visited = now;
    if (now < warm_up * web_.days) return;
    ++visits_;
    if (changed) ++found_;
  }
  // Adds what the copy of the page was worth from its last visit until `now`.
  void count_until(std::size_t page, double now) {
    const Known& known = known_[page];
    const std::vector<double>& changes = web_.pages[page].changes;
    const double from = std::max(known.visited, warm_up * web_.days);
    if (now <= from) return;
    const double stale = known.changes_seen < changes.size() ? changes[known.changes_seen] : web_.days;
    fresh_days_ += std::clamp(stale - from, 0.0, now - from);
    if (const double begins = std::max(stale, from); begins < now)
      age_days_ += ((now - stale) * (now - stale) - (begins - stale) * (begins - stale)) / 2;
  }

  const ChangingWeb& web_;
  RevisitPolicy policy_;
  double trust_;
  double visits_a_day_;  // of each page, on average
  std::vector<Known> known_;
  std::vector<std::pair<double, std::size_t>> order_;
  double fresh_days_ = 0;
  double age_days_ = 0;
  std::uint64_t visits_ = 0;
  std::uint64_t found_ = 0;
};

ChangingWeb made_up(const RevisitOptions& options) {
  std::mt19937_64 random(options.seed);
  ChangingWeb web;
  web.days = options.days;
  web.pages.resize(options.pages);
  std::uniform_real_distribution<double> spread(std::log(options.slowest), std::log(options.fastest));
  for (ChangingPage& page : web.pages) {
    page.rate = std::exp(spread(random));
    std::exponential_distribution<double> gap(page.rate);
    for (double at = gap(random); at < web.days; at += gap(random)) page.changes.push_back(at);
  }
  return web;
}

// Of the changes a share is told. Of what is told another share is true; the rest comes at any moment.
void add_hints(ChangingWeb& web, double told, double trust, std::uint64_t seed) {
  std::mt19937_64 random(seed + 1);
  std::uniform_real_distribution<double> share(0, 1);
  for (ChangingPage& page : web.pages) {
    for (const double at : page.changes)
      if (share(random) < told) page.hints.push_back(at);
    const double false_ones = static_cast<double>(page.hints.size()) * (1 - trust) / std::max(trust, 0.01);
    const auto count = static_cast<std::size_t>(false_ones + share(random));
    for (std::size_t i = 0; i < count; ++i) page.hints.push_back(share(random) * web.days);
    std::sort(page.hints.begin(), page.hints.end());
  }
}

}  // namespace

Result<ChangingWeb> read_history(const std::string& text) {
  std::map<std::string, std::vector<double>> pages;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.empty()) continue;
    const std::size_t gap = line.find_last_of(" \t");
    double seconds = 0;
    const char* const first = line.data() + (gap == std::string::npos ? 0 : gap + 1);
    const char* const last = line.data() + line.size();
    const auto [stop, error] = std::from_chars(first, last, seconds);
    if (gap == std::string::npos || gap == 0 || error != std::errc() || stop != last || !std::isfinite(seconds))
      return fail(ErrorCode::invalid_input, "line " + std::to_string(number) + " is not \"URL SECONDS\"");
    pages[line.substr(0, gap)].push_back(seconds);
  }
  double begin = INFINITY;
  double end = -INFINITY;
  for (auto& [url, changes] : pages) {
    std::sort(changes.begin(), changes.end());
    begin = std::min(begin, changes.front());
    end = std::max(end, changes.back());
  }
  constexpr double seconds_a_day = 24.0 * 3600;
  ChangingWeb web;
  web.days = (end - begin) / seconds_a_day;
  if (!(web.days > 0)) return fail(ErrorCode::invalid_input, "no two changes at different moments");
  for (const auto& [url, changes] : pages) {
    ChangingPage& page = web.pages.emplace_back();
    for (const double at : changes) page.changes.push_back((at - begin) / seconds_a_day);
    page.rate = static_cast<double>(changes.size()) / web.days;
  }
  return web;
}

RevisitResult visit_again(const ChangingWeb& web, RevisitPolicy policy, double visits_a_day, double trust) {
  return Crawl(web, policy, visits_a_day, trust).run();
}

Result<Report> lab_revisit(const RevisitOptions& options) {
  ChangingWeb web;
  if (options.history.empty()) {
    web = made_up(options);
  } else {
    std::ifstream file(options.history, std::ios::binary);
    if (!file) return fail(ErrorCode::invalid_input, "cannot read " + options.history);
    Result<ChangingWeb> read = read_history(std::string(std::istreambuf_iterator<char>(file), {}));
    if (!read) return fail(ErrorCode::invalid_input, options.history + ": " + read.error().message);
    web = std::move(*read);
  }
  add_hints(web, options.told, options.trust, options.seed);
  std::size_t changes = 0;
  for (const ChangingPage& page : web.pages) changes += page.changes.size();
  Report report;
  report.experiment = "revisit";
  report.facts = {{"seed", options.seed},   {"pages", web.pages.size()},           {"changes", changes},
                  {"days", web.days},       {"history", options.history},          {"told", options.told},
                  {"trust", options.trust}, {"visits_a_day", options.visits_a_day}};
  Table table;
  table.title = std::to_string(web.pages.size()) + " pages, " + std::to_string(changes) + " changes";
  table.columns = {{"policy", 0},
                   {"fresh (%)", 1},
                   {"age (days)", 2},
                   {"visits that find a change (%)", 1},
                   {"visits a page and day", 3}};
  Plot plot{
      .title = "Freshness by visits", .x = {"visits a page and day", true}, .y = {"fresh (%)", false}, .series = {}};
  const std::array<double, 5> budgets = {0.25, 0.5, 1, 2, 4};
  Progress progress("visiting", policies.size() * budgets.size());
  std::uint64_t done = 0;
  for (const Policy& policy : policies) {
    Series& series = plot.series.emplace_back();
    series.name = policy.name;
    for (const double part : budgets) {
      const double visits = part * options.visits_a_day;
      const RevisitResult result = visit_again(web, policy.policy, visits, options.trust);
      series.points.emplace_back(visits, 100 * result.freshness);
      if (part == 1)
        table.rows.push_back({std::string(policy.name), 100 * result.freshness, result.age_days, 100 * result.found,
                              result.visits_a_day});
      progress.at(++done);
    }
  }
  table.notes = {"The first fifth of the time is for learning, and does not count."};
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(plot));
  return report;
}

}  // namespace orbweaver
