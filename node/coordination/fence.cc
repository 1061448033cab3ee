#include "node/coordination/fence.h"

#include <algorithm>

namespace orbweaver {

namespace {

constexpr Duration question_every = std::chrono::milliseconds{300};
// Peers asked at a time, one group after another: each question contains the whole table of tenures.
constexpr std::size_t asked_at_a_time = 64;

}  // namespace

void Fence::raise() {
  confirmed_ = false;
  answered_.clear();
  nonce_ = 0;
}

void Fence::confirm() {
  confirmed_ = true;
  replication_->plan_due = true;
}

void Fence::hear(const ring::PeerId& from, const ring::Sync& answer) {
  if (confirmed_ || answer.nonce == 0 || answer.nonce != nonce_) return;
  answered_.insert(from);
  if (answer.confirmed) confirm();
}

Result<void> Fence::tick(const Step& step) {
  if (confirmed_) return {};
  const ring::Membership& membership = members_->membership();
  const PartitionManager& partition_manager = replication_->partition_manager;
  bool all = true;
  for (const auto& [peer, member] : membership.members())
    if (peer != state_->id && ring::reachable(member) && member.state != ring::MemberState::joining)
      all = all && answered_.contains(peer);
  // A peer that was let in, and then lost contact with those that let it in, holds nothing: it must not begin the crawl
  // again.
  const bool at_home = !answered_.empty() ||
                       (!members_lost_ && (partition_manager.held() > 0 || state_->store->counts().discovered() > 0 ||
                                           partition_manager.tenures().all().empty()));
  if (all && at_home) {
    confirm();
    return {};
  }
  if (step.now < next_question_) return {};
  next_question_ = step.now + question_every;
  if (all && step.now - state_->started > max_join_wait)
    return farewell_->exit(
        step, ErrorCode::unreachable,
        members_lost_
            ? "not all members of the last run could be read from the data directory, and no member answered; "
              "start it with --join and the address of a member"
            : "the members of the ring are gone, and this peer holds nothing of theirs; join another");
  if (nonce_ == 0) nonce_ = replication_->new_sequence();
  ring::Sync question;
  question.reply_wanted = true;
  question.members = {membership.self()};
  question.tenures = partition_manager.tenures().all();
  question.nonce = nonce_;
  std::vector<ring::PeerId> whom = members_->others();
  std::rotate(whom.begin(), std::upper_bound(whom.begin(), whom.end(), last_asked_), whom.end());
  whom.resize(std::min(whom.size(), asked_at_a_time));
  for (const ring::PeerId& peer : whom) messenger_->send(peer, question, step.out);
  if (!whom.empty()) last_asked_ = whom.back();
  return {};
}

std::optional<Time> Fence::next_deadline() const { return confirmed_ ? std::nullopt : std::optional(next_question_); }

}  // namespace orbweaver
