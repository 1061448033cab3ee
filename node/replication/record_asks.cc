#include "node/replication/record_asks.h"

#include <algorithm>

namespace orbweaver {

namespace {

constexpr Duration later_wait = std::chrono::milliseconds{200};
constexpr Duration max_patience = std::chrono::minutes{1};
// Tenures of one question; others are learned by comparing.
constexpr std::size_t max_news = 256;

}  // namespace

RecordAsks::Round RecordAsks::begin(const std::vector<ring::PeerId>& peers, Time now,
                                    const std::vector<ring::PartitionTenure>& news) {
  const Round round = ++last_;
  if (peers.empty()) return round;
  Waiting& waiting = rounds_[round];
  waiting.awaited.insert(peers.begin(), peers.end());
  waiting.began = now;
  if (news.size() <= max_news) waiting.news = news;
  // A question that is under way serves the earlier rounds only: the peer is asked again afterwards, once for all.
  std::set<ring::PeerId> listed(to_ask_.begin(), to_ask_.end());
  for (const ring::PeerId& peer : waiting.awaited)
    if (listed.insert(peer).second) to_ask_.push_back(peer);
  due_ = Time{};
  return round;
}

void RecordAsks::add(Round round, ring::Partition partition) {
  const auto found = rounds_.find(round);
  if (found != rounds_.end()) found->second.partitions.push_back(partition);
}

std::map<ring::PeerId, std::vector<ring::Partition>> RecordAsks::awaited() const {
  std::map<ring::PeerId, std::vector<ring::Partition>> waits;
  for (const auto& [round, waiting] : rounds_)
    for (const ring::PeerId& peer : waiting.awaited) {
      std::vector<ring::Partition>& partitions = waits[peer];
      partitions.insert(partitions.end(), waiting.partitions.begin(), waiting.partitions.end());
    }
  return waits;
}

bool RecordAsks::wanted(const ring::PeerId& peer) const {
  return std::any_of(rounds_.begin(), rounds_.end(),
                     [&](const auto& round) { return round.second.awaited.contains(peer); });
}

std::vector<RecordAsks::Out> RecordAsks::tick(Time now, std::uint64_t sum,
                                              const std::function<std::uint64_t()>& new_sequence) {
  std::vector<Out> out;
  if (!due_ || now < *due_) return out;
  std::deque<ring::PeerId> under_way;
  for (; !to_ask_.empty() && asked_.size() < max_unanswered; to_ask_.pop_front()) {
    const ring::PeerId& peer = to_ask_.front();
    if (!wanted(peer)) continue;
    if (!asked_.try_emplace(peer, Question{.due = now, .patience = timeout_}).second) under_way.push_back(peer);
  }
  to_ask_.insert(to_ask_.end(), under_way.begin(), under_way.end());
  due_.reset();
  for (auto& [peer, question] : asked_) {
    if (now >= question.due) {
      question.sequence = new_sequence();
      question.upto = last_;
      question.due = now + question.patience;
      question.patience = std::min(2 * question.patience, max_patience);
      ring::AskRecords ask{.sequence = question.sequence, .sum = sum};
      for (const auto& [round, waiting] : rounds_)
        if (waiting.awaited.contains(peer) && ask.tenures.size() + waiting.news.size() <= max_news)
          ask.tenures.insert(ask.tenures.end(), waiting.news.begin(), waiting.news.end());
      out.push_back({peer, std::move(ask)});
    }
    due_ = due_ ? std::min(*due_, question.due) : question.due;
  }
  return out;
}

bool RecordAsks::hear(const ring::PeerId& from, const ring::RecordsKnown& answer, Time now) {
  const auto asked = asked_.find(from);
  if (asked == asked_.end() || answer.sequence == 0 || asked->second.sequence != answer.sequence) return false;
  if (!answer.later) return true;
  asked->second.due = now + later_wait;
  asked->second.patience = timeout_;
  due_ = due_ ? std::min(*due_, asked->second.due) : asked->second.due;
  return false;
}

bool RecordAsks::awaits(Round round, const ring::PeerId& peer) const {
  const auto asked = asked_.find(peer);
  const auto found = rounds_.find(round);
  return asked != asked_.end() && round <= asked->second.upto && found != rounds_.end() &&
         found->second.awaited.contains(peer);
}

void RecordAsks::end_if_complete(Round round) {
  const auto found = rounds_.find(round);
  if (!found->second.awaited.empty()) return;
  const std::vector<ring::Partition>& partitions = found->second.partitions;
  ended_.insert(ended_.end(), partitions.begin(), partitions.end());
  rounds_.erase(found);
}

void RecordAsks::stop_asking_where_done() {
  std::erase_if(asked_, [this](const auto& entry) { return !wanted(entry.first); });
  due_ = Time{};
}

void RecordAsks::done(const ring::PeerId& peer) {
  const auto asked = asked_.find(peer);
  if (asked == asked_.end()) return;
  const Round upto = asked->second.upto;
  asked_.erase(asked);
  due_ = Time{};
  for (auto at = rounds_.begin(); at != rounds_.end() && at->first <= upto;) {
    const Round round = at->first;
    at->second.awaited.erase(peer);
    ++at;
    end_if_complete(round);
  }
}

void RecordAsks::forget_unless(const std::function<bool(const ring::PeerId&)>& reachable) {
  for (auto at = rounds_.begin(); at != rounds_.end();) {
    const Round round = at->first;
    std::erase_if(at->second.awaited, [&](const ring::PeerId& peer) { return !reachable(peer); });
    ++at;
    end_if_complete(round);
  }
  stop_asking_where_done();
}

std::vector<std::pair<ring::PeerId, std::vector<ring::Partition>>> RecordAsks::give_up(Time now, Duration wait) {
  std::vector<std::pair<ring::PeerId, std::vector<ring::Partition>>> given_up;
  for (auto at = rounds_.begin(); at != rounds_.end();) {
    const Round round = at->first;
    Waiting& waiting = at->second;
    ++at;
    if (now - waiting.began < wait) continue;
    for (const ring::PeerId& peer : std::exchange(waiting.awaited, {})) given_up.emplace_back(peer, waiting.partitions);
    end_if_complete(round);
  }
  if (!given_up.empty()) stop_asking_where_done();
  return given_up;
}

}  // namespace orbweaver
