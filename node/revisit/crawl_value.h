// What a visit of a page is worth now: how much fresher the crawl gets for the visits that it costs. Of pages that
// change as Poisson processes the best plan visits each at equal times, so that for all of them one more visit adds
// the same (Azar and others, PNAS 2018). So at each moment the page with the greatest value is due, and a peer needs
// to know of the others only what value is due now (arXiv 2502.02430). A page that changes faster than it could be
// followed is never worth as much as others: who uses this bounds how long a page waits (docs/inside/lab-revisit.md).
//
//   value(t) = importance / rate * (1 - e^-x (1 + x)), x = rate * t: 0 at a visit, rising to importance / rate
//
// A hint that the page has changed, such as a sitemap's date, makes it as old as it would be if it had probably
// changed: of n hints each is true with probability `trust`. Pure. Thread rule: free functions.
#pragma once

#include <cstdint>

namespace orbweaver {

// `rate`: changes a day; `days`: since the last visit. The unit: days of freshness a visit.
double crawl_value(double rate, double importance, double days);

// Days that count: those since the last visit, and what `hints` since then add.
double days_with_hints(double rate, double days, std::uint32_t hints, double trust);

}  // namespace orbweaver
