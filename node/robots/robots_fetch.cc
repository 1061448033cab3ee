#include "node/robots/robots_fetch.h"

namespace orbweaver {

RobotsStep robots_step(const RobotsAnswer& answer) {
  const int status = answer.status;
  if (status >= 200 && status < 300) return RobotsStep::rules;
  if (status >= 300 && status < 400 && answer.has_target && answer.hops < robots_hops_max) return RobotsStep::follow;
  if (status >= 300 && status < 500 && status != 429) return RobotsStep::allow_all;
  return answer.may_retry ? RobotsStep::retry : RobotsStep::unreachable;
}

RobotsState robots_state(RobotsStep step, const std::optional<RobotsState>& before, Time ended) {
  if (step == RobotsStep::rules) return {RobotsKind::rules, ended, ended + robots_lifetime, false};
  if (step == RobotsStep::allow_all) return {RobotsKind::allow_all, ended, ended + robots_lifetime, false};
  if (!before) return {RobotsKind::unreachable, ended, ended + robots_lifetime, false};
  if (ended - before->fetched >= robots_unreachable_max)
    return {RobotsKind::allow_all, before->fetched, ended + robots_lifetime, false};
  if (before->kind == RobotsKind::unreachable)
    return {RobotsKind::unreachable, before->fetched, ended + robots_lifetime, false};
  return {before->kind, before->fetched, ended + robots_stale_lifetime, true};
}

}  // namespace orbweaver
