// Visits again by rule of thumb: the time between two visits of a page grows while it does not change, and shrinks when
// it has (as Nutch's and StormCrawler's adaptive schedules do). Pure. Thread rule: a free function.
#pragma once

#include <algorithm>

#include "node/base.h"

namespace orbweaver {

struct AdaptiveBounds {
  double grow = 1.4, shrink = 0.8;
  Duration least{std::chrono::hours{1}};
  Duration most{std::chrono::hours{90 * 24}};
};

inline Duration next_interval(Duration last, bool changed, const AdaptiveBounds& bounds = {}) {
  const double next = static_cast<double>(last.count()) * (changed ? bounds.shrink : bounds.grow);
  return std::clamp(Duration(static_cast<std::int64_t>(next)), bounds.least, bounds.most);
}

}  // namespace orbweaver
