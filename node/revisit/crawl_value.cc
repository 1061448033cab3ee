#include "node/revisit/crawl_value.h"

#include <algorithm>
#include <cmath>

namespace orbweaver {

namespace {

// 1 - e^-x (1 + x), also for small x, where it is x^2/2 - x^3/3.
double risen(double x) { return x < 1e-4 ? x * x / 2 - x * x * x / 3 : 1 - std::exp(-x) * (1 + x); }

}  // namespace

double crawl_value(double rate, double importance, double days) {
  return rate > 0 && days > 0 ? importance / rate * risen(rate * days) : 0;
}

double days_with_hints(double rate, double days, std::uint32_t hints, double trust) {
  if (!(rate > 0) || hints == 0) return days;
  constexpr double surest = 0.999;
  return days - hints * std::log1p(-std::clamp(trust, 0.0, surest)) / rate;
}

}  // namespace orbweaver
