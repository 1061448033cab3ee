#include "node/coordination/farewell.h"

#include <algorithm>

#include "node/crawl/meta_names.h"
#include "node/try.h"

namespace orbweaver {

namespace {

// A peer that leaves repeats its last message until another peer answers, at most for max_announce.
constexpr Duration announce_every = std::chrono::milliseconds{300};
constexpr Duration max_announce = std::chrono::minutes{1};

}  // namespace

// One that is alone has nobody to tell, but for a command that has just asked something.
Time Farewell::last_moment(Time now) const {
  return members_->others().empty() && now >= asked_ + exit_linger ? now : now + exit_linger;
}

void Farewell::leave(Time now) {
  ring::Membership& membership = members_->membership();
  if (lifecycle_->leave(now + state_->settings.leave_timeout) && membership.self().state < ring::MemberState::leaving)
    membership.set_state(ring::MemberState::leaving, now);
}

Result<void> Farewell::exit(const Step& step, int code, std::string message) {
  if (lifecycle_->ending()) return {};
  lifecycle_->say_goodbye(Exit{code, std::move(message), false, {}}, last_moment(step.now));
  if (!lifecycle_->leaving()) return {};
  storage::Commit left;
  left.meta.emplace_back(meta_name::left, "yes");
  if (state_->store->counts().discovered() == 0) ORBWEAVER_TRY(writer_->commit(step, left));
  members_->membership().set_state(ring::MemberState::left, step.now);
  if (!members_->reachable().empty()) lifecycle_->exit_by(step.now + max_announce);
  announce(step);
  return {};
}

void Farewell::finish(const Step& step, std::string reason, std::map<std::string, std::uint64_t> totals) {
  if (lifecycle_->ending()) return;
  step.log(LogLevel::info, "crawl", "crawl ended", {{"reason", reason}});
  lifecycle_->say_goodbye(Exit{0, std::move(reason), true, std::move(totals)}, last_moment(step.now));
}

void Farewell::announce(const Step& step) {
  if (members_->membership().self().state != ring::MemberState::left || step.now < next_word_) return;
  next_word_ = step.now + announce_every;
  // Its own record only: the whole view to every member would be too much in a large ring.
  const ring::Sync word{true, {members_->membership().self()}, {}};
  for (const ring::PeerId& member : members_->others()) messenger_->send(member, word, step.out);
}

void Farewell::hear(Time now, const std::vector<ring::Member>& members) {
  if (!lifecycle_->saying_goodbye() || members_->membership().self().state != ring::MemberState::left) return;
  if (std::any_of(members.begin(), members.end(), [this](const ring::Member& member) {
        return member.id == state_->id && member.state == ring::MemberState::left;
      }))
    lifecycle_->exit_by(std::min(lifecycle_->exit_at(), now + exit_linger));
}

void Farewell::tick(const Step& step) {
  announce(step);
  if (const Exit* exit = lifecycle_->end_if_due(step.now)) step.out.push_back(*exit);
}

std::optional<Time> Farewell::next_deadline() const {
  if (!lifecycle_->saying_goodbye()) return std::nullopt;
  if (members_->membership().self().state != ring::MemberState::left) return lifecycle_->exit_at();
  return std::min(lifecycle_->exit_at(), next_word_);
}

}  // namespace orbweaver
