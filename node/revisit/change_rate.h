// How often a page changes, learned from its visits alone: each says only whether the page has changed since the one
// before. Changes are taken for a Poisson process, and the rate is the likeliest one (Cho, Garcia-Molina: Estimating
// frequency of change, TOIT 2003), improved visit by visit by Fisher scoring, so that two numbers a page are enough and
// the times between visits may differ. Older visits weigh less: pages change their ways. Pure. Thread rule: a value.
#pragma once

#include "node/base.h"

namespace orbweaver {

class ChangeRate {
 public:
  static constexpr double first_guess = 1.0 / 7;  // changes a day, before the first visit again
  static constexpr double least = 1.0 / 3650;
  static constexpr double most = 24.0 * 60;

  // `since`: the last visit. The first one sets the scale: one change, or a third of one, in that time.
  void visited(Duration since, bool changed);
  double a_day() const { return a_day_; }

 private:
  double a_day_ = first_guess;
  double weight_ = 0;  // how much is known: Fisher information about the rate's logarithm; 0: nothing
};

}  // namespace orbweaver
