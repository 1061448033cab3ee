#include "node/robots/robots_fetch.h"

namespace orbweaver {

RobotsStep robots_step(const RobotsAnswer& answer) {
  const int status = answer.status;
  if (status >= 200 && status < 300) return RobotsStep::rules;
  if (status >= 300 && status < 400 && answer.has_target && answer.hops < max_robots_hops) return RobotsStep::follow;
  if (status >= 300 && status < 500 && status != 429) return RobotsStep::allow_all;
  return answer.may_retry ? RobotsStep::retry : RobotsStep::unreachable;
}

RobotsState robots_state(RobotsStep step, const std::optional<RobotsState>& before, Time ended) {
  const auto answered = [ended](RobotsKind kind) {
    return RobotsState{.kind = kind, .fetched = ended, .expires = ended + robots_lifetime};
  };
  if (step == RobotsStep::rules) return answered(RobotsKind::rules);
  if (step == RobotsStep::allow_all) return answered(RobotsKind::allow_all);
  if (!before) return {.kind = RobotsKind::unreachable, .expires = ended + robots_lifetime, .unreachable_since = ended};
  RobotsState state = *before;
  state.same_body = false;
  state.expires = ended + robots_lifetime;
  const Time silent_since = before->fetched != Time{} ? before->fetched : before->unreachable_since;
  if (ended - silent_since >= max_robots_unreachable) {
    state.kind = RobotsKind::allow_all;
  } else if (before->kind != RobotsKind::unreachable) {
    state.expires = ended + robots_stale_lifetime;
    state.same_body = true;
  }
  return state;
}

}  // namespace orbweaver
