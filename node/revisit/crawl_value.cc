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

std::optional<double> days_until(double value, double rate, double importance) {
  if (!(rate > 0) || !(importance > 0)) return std::nullopt;
  const double part = value * rate / importance;
  if (!(part > 0)) return 0;
  constexpr double most = 1 - 1e-9;
  if (part >= most) return std::nullopt;
  double low = 0;
  double high = 1;
  while (risen(high) < part) high *= 2;
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (risen(middle) < part ? low : high) = middle;
  }
  return high / rate;
}

double days_with_hints(double rate, double days, std::uint32_t hints, double trust) {
  if (!(rate > 0) || hints == 0) return days;
  constexpr double surest = 0.999;
  return days - hints * std::log1p(-std::clamp(trust, 0.0, surest)) / rate;
}

void DueValue::adapt(double due, double wanted) {
  constexpr double fastest = 1.25;
  if (!(wanted > 0)) return;
  const double ratio = std::clamp(std::sqrt((due + wanted / 10) / (wanted * 1.1)), 1 / fastest, fastest);
  value_ = std::clamp(value_ * ratio, 1e-9, 1e6);
}

}  // namespace orbweaver
