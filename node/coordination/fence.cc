#include "node/coordination/fence.h"

#include <algorithm>

namespace orbweaver {

namespace {

constexpr Duration question_every = std::chrono::milliseconds{300};
// Peers asked at a time, one group after another, each twice as large as the one before.
constexpr std::size_t first_group = 3;
constexpr std::size_t max_group = 64;

}  // namespace

void Fence::raise() {
  confirmed_ = false;
  since_.reset();
  answered_.clear();
  confirmed_by_.clear();
  unanswered_.clear();
  group_ = 0;
  nonce_ = 0;
}

void Fence::confirm() {
  confirmed_ = true;
  replication_->plan_due = true;
}

void Fence::hear(Time now, const ring::PeerId& from, const ring::TenuresCompared& answer) {
  if (confirmed_ || !is_answer(answer) || answer.more) return;
  answered_.insert(from);
  if (answer.confirmed) confirmed_by_.insert(from);
  if (answer.confirmed && members_->is_reachable(from)) return confirm();
  unanswered_.erase(from);
  if (unanswered_.empty()) next_question_ = now;
}

Time Fence::begins() const {
  return moved_from_ && !members_->others().empty() ? state_->started + state_->settings.suspicion_time : Time{};
}

// One that answers is back soon.
bool Fence::down_ones_had_their_time(Time now) const {
  return now >= *since_ + state_->settings.suspicion_time || members_->down().empty();
}

Result<void> Fence::tick(const Step& step) {
  if (confirmed_) return {};
  if (step.now < begins()) {
    if (step.now >= next_question_) ask_namesake(step);
    return {};
  }
  if (!since_) since_ = step.now;
  const ring::Membership& membership = members_->membership();
  const PartitionManager& partition_manager = replication_->partition_manager;
  bool all = true;
  for (const auto& [peer, member] : membership.members())
    if (peer != state_->id && ring::reachable(member) && member.state != ring::MemberState::joining)
      all = all && answered_.contains(peer);
  // A peer that was let in, and then lost contact with those that let it in, holds nothing: it must not begin the crawl
  // again. What it has discovered, others sent it, or a user: the ring's seeds are admitted once it is confirmed.
  const bool at_home = !answered_.empty() ||
                       (!members_lost_ && (partition_manager.held() > 0 || state_->store->counts().discovered() > 0 ||
                                           partition_manager.tenures().none()));
  const bool by_one = std::any_of(confirmed_by_.begin(), confirmed_by_.end(),
                                  [this](const ring::PeerId& peer) { return members_->is_reachable(peer); });
  if (by_one || (all && at_home && down_ones_had_their_time(step.now))) {
    confirm();
    return {};
  }
  if (step.now < next_question_) return {};
  next_question_ = step.now + question_every;
  if (all && !at_home && step.now - state_->started > max_join_wait)
    return farewell_->exit(
        step, ErrorCode::unreachable,
        members_lost_
            ? "not all members of the last run could be read from the data directory, and no member answered; "
              "start it with --join and the address of a member"
            : "the members of the ring are gone, and this peer holds nothing of theirs; join another");
  ask(step);
  return {};
}

void Fence::ask_namesake(const Step& step) {
  next_question_ = step.now + question_every;
  ring::Sync news;
  news.reply_wanted = true;
  news.members = {members_->membership().self()};
  messenger_->send_all({{state_->id, *moved_from_, std::move(news)}}, step.out);
}

// Members whose answer is missing, by id from the one that was asked last: ids are random. Those that are down have the
// places that the others leave, and one of each group after the first.
void Fence::ask(const Step& step) {
  if (nonce_ == 0) nonce_ = replication_->new_sequence();
  if (last_asked_ == ring::PeerId{}) last_asked_ = last_asked_down_ = state_->id;
  group_ = std::clamp(2 * group_, first_group, max_group);
  unanswered_.clear();
  std::vector<ring::PeerId> whom;
  const auto missing = [this](std::vector<ring::PeerId> some) {
    std::erase_if(some, [this](const ring::PeerId& peer) { return answered_.contains(peer); });
    return some;
  };
  const auto add = [&](std::vector<ring::PeerId> some, ring::PeerId& last, std::size_t room) {
    std::rotate(some.begin(), std::upper_bound(some.begin(), some.end(), last), some.end());
    some.resize(std::min(some.size(), room));
    if (!some.empty()) last = some.back();
    whom.insert(whom.end(), some.begin(), some.end());
  };
  const std::vector<ring::PeerId> down = missing(members_->down());
  add(missing(members_->others()), last_asked_, down.empty() || group_ == first_group ? group_ : group_ - 1);
  add(down, last_asked_down_, group_ - whom.size());
  for (const ring::PeerId& peer : whom) {
    messenger_->send(peer,
                     ring::CompareTenures{.nonce = nonce_,
                                          .fingerprint = replication_->partition_manager.tenures().fingerprint(),
                                          .members_fingerprint = members_->membership().states_fingerprint(),
                                          .members = {members_->membership().self()}},
                     step.out);
    unanswered_.insert(peer);
  }
}

std::optional<Time> Fence::next_deadline() const { return confirmed_ ? std::nullopt : std::optional(next_question_); }

}  // namespace orbweaver
