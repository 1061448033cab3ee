#include "node/crawl/copier.h"

#include <algorithm>

namespace orbweaver {

void Copier::write(const View& view, ring::Partition partition, std::string record, Time now) {
  const std::vector<ring::PeerId> peers = view.copies(partition);
  if (peers.empty()) return;
  ++issued_;
  for (const ring::PeerId& peer : peers) {
    Queue& queue = queues_[peer];
    if (queue.waiting.empty()) queue.oldest = now;
    queue.waiting.push_back({issued_, partition, record});
    ++items_;
    bytes_ += record.size();
  }
}

void Copier::write_after(ring::Partition partition, const storage::UrlKey& key, std::string record,
                         std::uint64_t outbox) {
  outcome_bytes_ += record.size();
  outcomes_.push_back({issued_, outbox, partition, key, std::move(record)});
  held_back_.insert(key);
}

std::uint64_t Copier::safe() const {
  std::uint64_t safe = issued_;
  for (const auto& [peer, queue] : queues_) {
    if (!queue.waiting.empty()) safe = std::min(safe, queue.waiting.front().number - 1);
    for (const auto& [sequence, under_way] : queue.under_way) safe = std::min(safe, under_way.items.front().number - 1);
  }
  return safe;
}

void Copier::send(const ring::PeerId& to, Queue& queue, const View& view, const ring::Tenures& tenures, Time now,
                  std::uint64_t sequence, std::vector<Forwarder::Out>& out) {
  UnderWay next;
  next.sent = now;
  next.batch.sequence = sequence;
  next.batch.kind = ring::BatchKind::copy;
  next.batch.ring_fingerprint = view.ring().fingerprint();
  std::set<ring::Partition> partitions;
  std::size_t bytes = 0;
  while (!queue.waiting.empty() && next.items.size() < config_.batch_records && bytes < config_.batch_bytes) {
    Item& item = queue.waiting.front();
    bytes += item.record.size();
    next.batch.records.push_back({item.partition, item.record});
    if (partitions.insert(item.partition).second)
      next.batch.tenures.push_back({item.partition, tenures.of(item.partition)});
    next.items.push_back(std::move(item));
    queue.waiting.pop_front();
  }
  queue.oldest = now;
  ++batches_sent_;
  bytes_sent_ += bytes;
  records_sent_ += next.items.size();
  out.push_back({to, next.batch});
  queue.under_way.emplace(sequence, std::move(next));
}

void Copier::tick(Time now, const View& view, const ring::Tenures& tenures, std::uint64_t outbox_safe,
                  const std::function<std::uint64_t()>& new_sequence, std::vector<Forwarder::Out>& out) {
  if (!outcomes_.empty()) {
    const std::uint64_t reached = safe();
    while (!outcomes_.empty() && outcomes_.front().items <= reached && outcomes_.front().outbox <= outbox_safe) {
      Outcome& outcome = outcomes_.front();
      outcome_bytes_ -= outcome.record.size();
      write(view, outcome.partition, std::move(outcome.record), now);
      held_back_.erase(outcome.key);
      outcomes_.pop_front();
    }
  }
  for (auto& [peer, queue] : queues_) {
    for (auto& [sequence, under_way] : queue.under_way) {
      if (now - under_way.sent < config_.timeout) continue;
      under_way.sent = now;
      for (ring::PartitionTenure& entry : under_way.batch.tenures) entry.tenure = tenures.of(entry.partition);
      out.push_back({peer, under_way.batch});
    }
    if (now < queue.not_before) continue;
    while (!queue.waiting.empty() && queue.under_way.size() < config_.under_way_max &&
           (queue.waiting.size() >= config_.batch_records || now - queue.oldest >= config_.age))
      send(peer, queue, view, tenures, now, new_sequence(), out);
  }
}

bool Copier::acknowledged(const ring::PeerId& from, std::uint64_t sequence) {
  const auto queue = queues_.find(from);
  if (queue == queues_.end()) return false;
  const auto found = queue->second.under_way.find(sequence);
  if (found == queue->second.under_way.end()) return false;
  items_ -= found->second.items.size();
  for (const Item& item : found->second.items) bytes_ -= item.record.size();
  queue->second.under_way.erase(found);
  return true;
}

bool Copier::refused(const ring::PeerId& from, std::uint64_t sequence, Time now) {
  const auto queue = queues_.find(from);
  if (queue == queues_.end()) return false;
  const auto found = queue->second.under_way.find(sequence);
  if (found == queue->second.under_way.end()) return false;
  std::deque<Item>& waiting = queue->second.waiting;
  for (Item& item : found->second.items) waiting.push_back(std::move(item));
  std::sort(waiting.begin(), waiting.end(), [](const Item& a, const Item& b) { return a.number < b.number; });
  queue->second.under_way.erase(found);
  queue->second.not_before = now + ring::refusal_wait;
  return true;
}

void Copier::owners_changed(const View& view, Time now) {
  std::map<std::uint64_t, Item> items;  // each once, by number
  for (auto& [peer, queue] : queues_) {
    for (auto& [sequence, under_way] : queue.under_way)
      for (Item& item : under_way.items) items.try_emplace(item.number, std::move(item));
    for (Item& item : queue.waiting) items.try_emplace(item.number, std::move(item));
  }
  queues_.clear();
  items_ = 0;
  bytes_ = 0;
  for (auto& [number, item] : items) {
    for (const ring::PeerId& peer : view.copies(item.partition)) {
      Queue& queue = queues_[peer];
      if (queue.waiting.empty()) queue.oldest = now;
      queue.waiting.push_back(item);
      ++items_;
      bytes_ += item.record.size();
    }
  }
}

std::optional<Time> Copier::next_deadline() const {
  std::optional<Time> earliest;
  const auto consider = [&](Time at) { earliest = earliest ? std::min(*earliest, at) : at; };
  for (const auto& [peer, queue] : queues_) {
    for (const auto& [sequence, under_way] : queue.under_way) consider(under_way.sent + config_.timeout);
    if (!queue.waiting.empty() && queue.under_way.size() < config_.under_way_max)
      consider(std::max(queue.oldest + config_.age, queue.not_before));
  }
  return earliest;
}

}  // namespace orbweaver
