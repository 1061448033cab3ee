#include "node/revisit/change_rate.h"

#include <algorithm>
#include <cmath>

namespace orbweaver {

namespace {

// What is known weighs this much less with each visit: after about 30 visits it is half replaced.
constexpr double memory = 0.98;
// One visit moves the rate by a factor of e at most.
constexpr double longest_step = 1;
constexpr double day = 24.0 * 3600 * 1e6;
// What one visit says of the rate, at most, times the time since the one before. It begins there.
constexpr double when_changed = 1;
constexpr double when_not = 0.3;
// Where a page has changed at each of its visits, all greater rates are as likely. Then it is drawn to lower ones.
constexpr double draw = 0.05;

}  // namespace

// With x = rate * time, a visit finds a change with probability 1 - e^-x. The derivative of the log-likelihood by log x
// is x e^-x / (1 - e^-x) for a change and -x for none; the expected square of it is x^2 e^-x / (1 - e^-x).
void ChangeRate::visited(Duration since, bool changed) {
  const double days = static_cast<double>(since.count()) / day;
  if (!(days > 0)) return;
  if (weight_ == 0) {
    a_day_ = std::clamp((changed ? when_changed : when_not) / days, least, most);
    weight_ = 0.5;
    return;
  }
  const double x = a_day_ * days;
  const double odds = 1 / std::expm1(std::min(x, 700.0));  // e^-x / (1 - e^-x)
  const double beyond = x / (2 + x);
  const double score = (changed ? x * odds : -x) - draw * beyond * beyond;
  weight_ = memory * weight_ + x * x * odds;
  const double step = std::clamp(score / std::max(weight_, 0.1), -longest_step, longest_step);
  a_day_ = std::clamp(a_day_ * std::exp(step), least, most);
}

}  // namespace orbweaver
