// Random records, clocks and robots.txt files, and their bytes, for the tests of merge() and of the formats. Small
// ranges, so that equal parts and equal records are frequent.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "storage/record.h"

namespace orbweaver::storage {

using Random = std::mt19937_64;

inline std::uint64_t below(Random& random, std::uint64_t bound) { return random() % bound; }

inline constexpr Reason excluded_reasons[] = {
    Reason::robots, Reason::depth,  Reason::redirects,   Reason::bad_port, Reason::robots_unreachable,
    Reason::trap,   Reason::budget, Reason::content_type};
inline constexpr Reason failed_reasons[] = {Reason::http_status, Reason::dns, Reason::timeout, Reason::host_down};

// Small ranges, so that equal parts and equal records are frequent.
inline UrlRecord random_record(Random& random) {
  UrlRecord record;
  record.state = static_cast<UrlState>(1 + below(random, 4));
  if (record.state == UrlState::excluded) record.reason = excluded_reasons[below(random, std::size(excluded_reasons))];
  if (record.state == UrlState::failed) record.reason = failed_reasons[below(random, 4)];
  if (record.state == UrlState::queued && below(random, 2) == 0) record.reason = failed_reasons[below(random, 4)];
  if (record.state == UrlState::fetched && below(random, 2) == 0) record.reason = Reason::noindex;
  record.depth = static_cast<std::uint16_t>(below(random, 3));
  record.steps = static_cast<std::uint8_t>(below(random, 3));
  record.attempts = static_cast<std::uint8_t>(below(random, 3));
  record.status = static_cast<std::uint16_t>(below(random, 2) * 200);
  record.since = Time(Duration(static_cast<std::int64_t>(below(random, 3)) - 1));
  record.url = "http://example.test/";
  record.off_site = static_cast<std::uint8_t>(below(random, 3));
  record.visit = static_cast<std::uint16_t>(below(random, 4) == 0 ? 1 : 0);
  record.score = static_cast<std::uint16_t>(below(random, 3) * 200);
  if (below(random, 3) == 0) record.lastmod = Time(Duration(1 + static_cast<std::int64_t>(below(random, 2))));
  if (below(random, 3) == 0) record.validator = below(random, 2) == 0 ? "\"1\"" : "\"2\"";
  if (below(random, 2) == 0) record.not_before = Time(Duration(static_cast<std::int64_t>(below(random, 3)) - 1));
  record.sitemap_visit = static_cast<std::uint16_t>(below(random, 3));
  return record;
}

// Most are as peers write them: answered, or never answered.
inline RobotsEntry random_robots(Random& random) {
  const Time moment(Duration(1 + static_cast<std::int64_t>(below(random, 3))));
  RobotsEntry robots{.expires = Time(Duration(static_cast<std::int64_t>(below(random, 3)))),
                     .kind = static_cast<std::uint8_t>(1 + below(random, 3)),
                     .body = below(random, 2) == 0 ? "a" : "b"};
  const std::uint64_t which = below(random, 5);
  if (which != 0) (which < 3 ? robots.fetched : robots.unreachable_since) = moment;
  if (which == 4) robots.fetched = Time(Duration(static_cast<std::int64_t>(below(random, 4))));
  if (below(random, 2) == 0) robots.cause = failed_reasons[below(random, 4)];
  robots.status = static_cast<std::uint16_t>(below(random, 2) * 503);
  return robots;
}

inline HostClock random_clock(Random& random) {
  return {Time(Duration(static_cast<std::int64_t>(below(random, 4)))),
          static_cast<std::uint32_t>(below(random, 4)),
          "example.test",
          std::chrono::milliseconds(below(random, 3)),
          below(random, 3),
          below(random, 3)};
}

// The ranks of record.h: excluded for now (depth, trap) < queued < excluded for good < failed < fetched.
inline int rank_by_the_book(const UrlRecord& record) {
  if (record.state == UrlState::fetched) return 4;
  if (record.state == UrlState::failed) return 3;
  if (record.state == UrlState::queued) return 1;
  return record.reason == Reason::depth || record.reason == Reason::trap ? 0 : 2;
}

template <class Record, class Make>
inline void expect_semilattice(Make make) {
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    const Record a = make(random), b = make(random), c = make(random);
    ASSERT_EQ(merge(a, a), a) << "idempotent, round " << round;
    ASSERT_EQ(merge(a, b), merge(b, a)) << "commutative, round " << round;
    ASSERT_EQ(merge(merge(a, b), c), merge(a, merge(b, c))) << "associative, round " << round;
    ASSERT_EQ(merge(merge(a, b), a), merge(a, b)) << "a copy that comes again changes nothing, round " << round;
  }
}

// Copies that are late, doubled, in pieces and in any order: every peer ends with the same record.
template <class Record, class Make>
inline void expect_any_order_gives_the_same(Make make) {
  Random random(2);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<Record> history;
    for (std::size_t i = 0; i < 8; ++i) history.push_back(make(random));
    Record straight = history[0];
    for (const Record& record : history) straight = merge(straight, record);

    std::vector<Record> copies = history;
    copies.insert(copies.end(), history.begin(), history.begin() + 4);  // some are doubled
    std::shuffle(copies.begin(), copies.end(), random);
    while (copies.size() > 1) {  // any two neighbours are merged
      const std::size_t i = below(random, copies.size() - 1);
      copies[i] = merge(copies[i], copies[i + 1]);
      copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    ASSERT_EQ(copies[0], straight) << "round " << round;
  }
}

}  // namespace orbweaver::storage
