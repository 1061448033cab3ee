#include "node/replication/members.h"

#include <algorithm>
#include <utility>

namespace orbweaver {

Members::Members(const PeerState& state, ring::Membership membership)
    : state_(&state),
      membership_(std::move(membership)),
      view_(state.id, state.settings.partitions, state.settings.replicas) {}

const Members::Roll& Members::roll() const {
  if (roll_.version == membership_.version()) return roll_;
  roll_ = {};
  roll_.version = membership_.version();
  for (const auto& [id, member] : membership_.members()) {
    if (ring::reachable(member)) roll_.reachable.push_back(id);
    if (ring::reachable(member) && id != state_->id) roll_.others.push_back(id);
    if (member.state == ring::MemberState::down) roll_.down.push_back(id);
    roll_.any_joins = roll_.any_joins || member.state == ring::MemberState::joining;
  }
  return roll_;
}

bool Members::is_reachable(const ring::PeerId& peer) const {
  const ring::Member* member = membership_.find(peer);
  return member != nullptr && ring::reachable(*member);
}

bool Members::gone(const ring::PeerId& peer, Time now) const {
  const auto since = down_since_.find(peer);
  return since != down_since_.end() && now - since->second >= state_->settings.presume_dead_after;
}

bool Members::waited_for(const ring::PeerId& peer, Time now) const {
  const ring::Member* member = membership_.find(peer);
  if (member == nullptr || member->state != ring::MemberState::down) return false;
  return state_->settings.replicas < 2 || !gone(peer, now);
}

bool Members::paused() const {
  if (state_->settings.on_cut != OnCut::pause_minority) return false;
  const bool holds = pause_.version == membership_.version() && pause_.accepted == accepted_ &&
                     pause_.from <= state_->stepped && state_->stepped < pause_.until;
  if (!holds) pause_ = judge_pause();
  return pause_.paused;
}

Members::Pause Members::judge_pause() const {
  Pause pause{.version = membership_.version(), .accepted = accepted_, .from = state_->stepped, .until = Time::max()};
  std::size_t here = 0;
  std::size_t away = 0;
  bool lowest_here = true;
  bool first = true;
  for (const auto& [peer, member] : membership_.members()) {
    if (member.state == ring::MemberState::left || member.state == ring::MemberState::joining) continue;
    if (gone(peer, state_->stepped)) continue;
    if (const auto since = down_since_.find(peer); since != down_since_.end())
      pause.until = std::min(pause.until, since->second + state_->settings.presume_dead_after);
    const bool answers = ring::reachable(member) && !member.suspect;
    if (std::exchange(first, false)) lowest_here = answers;
    ++(answers ? here : away);
  }
  pause.paused = here < away || (here == away && !lowest_here);
  return pause;
}

bool Members::accept_changes(Time now) {
  accepted_ = membership_.version();
  come_or_gone_.clear();
  std::map<ring::PeerId, ring::MemberState> before = std::exchange(accepted_states_, {});
  for (const auto& [peer, member] : membership_.members()) {
    accepted_states_.emplace_hint(accepted_states_.end(), peer, member.state);
    const auto known = before.extract(peer);
    const bool was_reachable = !known.empty() && known.mapped() < ring::MemberState::left;
    if (known.empty() || was_reachable != ring::reachable(member)) come_or_gone_.insert(peer);
    const bool was_joining = !known.empty() && known.mapped() == ring::MemberState::joining;
    if (member.state == ring::MemberState::down || (member.state == ring::MemberState::left && was_joining)) {
      down_since_.try_emplace(peer, now);
    } else if (known.empty() || known.mapped() != member.state) {
      down_since_.erase(peer);
    }
  }
  for (const auto& [peer, state] : before) come_or_gone_.insert(peer);
  std::erase_if(versions_, [this](const auto& entry) { return membership_.find(entry.first) == nullptr; });
  return view_.update(membership_);
}

void Members::note_version(const ring::PeerId& from, std::uint16_t version) {
  if (membership_.find(from) != nullptr) versions_[from] = version;
}

std::uint16_t Members::version_of(const ring::PeerId& peer) const {
  const auto found = versions_.find(peer);
  return found == versions_.end() ? std::uint16_t{0} : found->second;
}

}  // namespace orbweaver
