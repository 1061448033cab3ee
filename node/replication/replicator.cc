#include "node/replication/replicator.h"

#include <algorithm>

namespace orbweaver {

void Replicator::write(const View& view, ring::Partition partition, std::string record, Time now) {
  const std::vector<ring::PeerId> peers = view.copies(partition);
  if (peers.empty()) return;
  ++issued_;
  for (const ring::PeerId& peer : peers) {
    Queue& queue = queue_of(peer);
    if (queue.waiting.empty()) queue.oldest = now;
    queue.waiting.push_back({issued_, partition, record});
    ++items_;
    bytes_ += record.size();
  }
}

void Replicator::write_after(ring::Partition partition, const storage::UrlKey& key, std::string record,
                             std::uint64_t outbox) {
  outcome_bytes_ += record.size();
  outcomes_.push_back({issued_, outbox, partition, key, std::move(record)});
  held_back_.insert(key);
}

std::uint64_t Replicator::safe() const {
  std::uint64_t safe = issued_;
  for (const auto& [peer, queue] : queues_) {
    if (!queue.waiting.empty()) safe = std::min(safe, queue.waiting.front().number - 1);
    for (const auto& [sequence, flight] : queue.window.flights()) safe = std::min(safe, flight.content.front() - 1);
  }
  return safe;
}

std::vector<Replicator::Item> Replicator::items_of(const BatchWindow<Numbers>::Flight& flight) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < flight.content.size(); ++i)
    items.push_back({flight.content[i], flight.batch.records[i].partition, flight.batch.records[i].record});
  return items;
}

void Replicator::send(const ring::PeerId& to, Queue& queue, const View& view, const ring::Tenures& tenures, Time now,
                      std::uint64_t sequence, std::vector<BatchOut>& out) {
  ring::Batch batch{.sequence = sequence, .ring_fingerprint = view.ring().fingerprint(), .kind = ring::BatchKind::copy};
  Numbers numbers;
  std::vector<ring::BatchRecord> records;
  std::set<ring::Partition> partitions;
  std::size_t bytes = 0;
  while (!queue.waiting.empty() && config_.batch.has_room(records.size(), bytes)) {
    Item& item = queue.waiting.front();
    bytes += item.record.size();
    if (partitions.insert(item.partition).second) batch.tenures.push_back({item.partition, tenures.of(item.partition)});
    numbers.push_back(item.number);
    records.push_back({item.partition, std::move(item.record)});
    queue.waiting.pop_front();
  }
  queue.oldest = now;
  ++batches_sent_;
  bytes_sent_ += bytes;
  records_sent_ += records.size();
  batch.records = std::move(records);
  out.push_back({to, queue.window.add(now, std::move(batch), std::move(numbers))});
}

void Replicator::tick(Time now, const View& view, const ring::Tenures& tenures, std::uint64_t outbox_safe,
                      const std::function<std::uint64_t()>& new_sequence, std::vector<BatchOut>& out) {
  if (!outcomes_.empty()) {
    const std::uint64_t reached = safe();
    while (!outcomes_.empty() && outcomes_.front().items <= reached && outcomes_.front().outbox <= outbox_safe) {
      PendingOutcome& outcome = outcomes_.front();
      outcome_bytes_ -= outcome.record.size();
      write(view, outcome.partition, std::move(outcome.record), now);
      held_back_.erase(outcome.key);
      outcomes_.pop_front();
    }
  }
  const auto refresh = [&](ring::Batch& batch) {
    batch.ring_fingerprint = view.ring().fingerprint();
    for (ring::PartitionTenure& entry : batch.tenures) entry.tenure = tenures.of(entry.partition);
  };
  for (auto& [peer, queue] : queues_) {
    queue.window.resend(now, peer, refresh, out);
    while (!queue.waiting.empty() && queue.window.open(now) &&
           (queue.waiting.size() >= config_.batch.max_records || now - queue.oldest >= config_.age))
      send(peer, queue, view, tenures, now, new_sequence(), out);
  }
}

bool Replicator::acknowledged(const ring::PeerId& from, std::uint64_t sequence) {
  const auto queue = queues_.find(from);
  if (queue == queues_.end()) return false;
  const auto flight = queue->second.window.acknowledged(sequence);
  if (!flight) return false;
  items_ -= flight->content.size();
  for (const ring::BatchRecord& record : flight->batch.records) bytes_ -= record.record.size();
  return true;
}

bool Replicator::refused(const ring::PeerId& from, std::uint64_t sequence, Time now) {
  const auto queue = queues_.find(from);
  if (queue == queues_.end()) return false;
  const auto flight = queue->second.window.refused(sequence, now);
  if (!flight) return false;
  std::deque<Item>& waiting = queue->second.waiting;
  for (Item& item : items_of(*flight)) waiting.push_back(std::move(item));
  std::sort(waiting.begin(), waiting.end(), [](const Item& a, const Item& b) { return a.number < b.number; });
  return true;
}

void Replicator::owners_changed(const View& view, Time now) {
  std::map<std::uint64_t, Item> items;  // each once, by number
  for (auto& [peer, queue] : queues_) {
    for (const auto& [sequence, flight] : queue.window.flights())
      for (Item& item : items_of(flight)) items.try_emplace(item.number, std::move(item));
    for (Item& item : queue.waiting) items.try_emplace(item.number, std::move(item));
  }
  queues_.clear();
  items_ = 0;
  bytes_ = 0;
  for (auto& [number, item] : items) {
    for (const ring::PeerId& peer : view.copies(item.partition)) {
      Queue& queue = queue_of(peer);
      if (queue.waiting.empty()) queue.oldest = now;
      queue.waiting.push_back(item);
      ++items_;
      bytes_ += item.record.size();
    }
  }
}

std::optional<Time> Replicator::next_deadline() const {
  std::optional<Time> earliest;
  const auto consider = [&](std::optional<Time> at) {
    if (at) earliest = earliest ? std::min(*earliest, *at) : *at;
  };
  for (const auto& [peer, queue] : queues_) {
    consider(queue.window.next_deadline());
    if (!queue.waiting.empty() && queue.window.has_room())
      consider(std::max(queue.oldest + config_.age, queue.window.not_before()));
  }
  return earliest;
}

}  // namespace orbweaver
