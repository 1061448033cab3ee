#include "node/replication/replicator.h"

#include <algorithm>

namespace orbweaver {

void Replicator::write(const View& view, ring::Partition partition, std::string record, Time now, Dependents::Id id) {
  const std::vector<ring::PeerId> peers = view.copies(partition);
  if (peers.empty()) return;
  ++issued_;
  items_ += peers.size();
  bytes_ += peers.size() * record.size();
  const auto add = [&](const ring::PeerId& peer, std::string copy) {
    Queue& queue = queue_of(peer);
    const bool first = queue.waiting.empty();
    if (first) queue.oldest = now;
    queue.waiting.push_back({issued_, partition, std::move(copy)});
    if (first || due(queue, now)) schedule(peer, queue);
    if (id != 0) add_wait(queue.waits, issued_, id);
  };
  for (std::size_t i = 0; i + 1 < peers.size(); ++i) add(peers[i], record);
  add(peers.back(), std::move(record));
}

// Numbers rise, so the last wait of a dependent in a list includes its others there.
void Replicator::add_wait(WaitingList<Waiting, std::deque>& list, std::uint64_t number, Dependents::Id id) {
  if (!list.empty() && list.entries().back().id == id) {
    list.entries().back().number = number;
    return;
  }
  list.add(*dependents_, {number, id});
  dependents_->wait(id);
}

void Replicator::end_waits(WaitingList<Waiting, std::deque>& list, std::uint64_t safe) {
  std::deque<Waiting>& waits = list.entries();
  for (; !waits.empty() && waits.front().number <= safe; waits.pop_front()) dependents_->done(waits.front().id);
}

void Replicator::wait_for(const View& view, ring::Partition partition, Dependents::Id id) {
  for (const ring::PeerId& peer : view.copies(partition)) {
    const auto queue = queues_.find(peer);
    if (queue != queues_.end() && !queue->second.idle()) add_wait(queue->second.waits, issued_, id);
  }
}

void Replicator::wait_for_all(Dependents::Id id) {
  if (safe() < issued_) add_wait(wait_for_all_, issued_, id);
}

void Replicator::write_after(ring::Partition partition, const storage::UrlKey& key, std::string record, Time fetched,
                             Dependents::Id id) {
  outcome_bytes_ += record.size();
  outcomes_.insert_or_assign(id, PendingOutcome{partition, key, fetched, std::move(record)});
  fetched_.insert(fetched);
  delayed_.insert(key);
  dependents_->close(id);
  // Those that depend on a slow peer are the oldest.
  while (outcomes_.size() > config_.max_items || outcome_bytes_ > config_.max_bytes) {
    dependents_->forget(outcomes_.begin()->first);
    const PendingOutcome outcome = take_outcome(outcomes_.begin());
    given_up_.push_back({outcome.partition, outcome.fetched});
    ++outcomes_given_up_;
  }
}

Replicator::PendingOutcome Replicator::take_outcome(std::map<Dependents::Id, PendingOutcome>::iterator at) {
  PendingOutcome outcome = std::move(at->second);
  outcomes_.erase(at);
  outcome_bytes_ -= outcome.record.size();
  delayed_.erase(delayed_.find(outcome.key));
  fetched_.erase(fetched_.find(outcome.fetched));
  return outcome;
}

std::uint64_t Replicator::Queue::safe() const {
  std::uint64_t safe = UINT64_MAX;
  if (!waiting.empty()) safe = std::min(safe, waiting.front().number - 1);
  for (const auto& [sequence, flight] : window.flights()) safe = std::min(safe, flight.content.front() - 1);
  return safe;
}

std::uint64_t Replicator::safe() const {
  std::uint64_t safe = issued_;
  if (items_ == 0) return safe;
  for (const auto& [peer, queue] : queues_) safe = std::min(safe, queue.safe());
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

void Replicator::tick(Time now, const View& view, const ring::Tenures& tenures,
                      const std::function<std::uint64_t()>& new_sequence, std::vector<BatchOut>& out) {
  for (const Dependents::Id id : dependents_->take_met(Dependents::Kind::outcome)) {
    const auto found = outcomes_.find(id);
    if (found == outcomes_.end()) continue;  // given up
    PendingOutcome outcome = take_outcome(found);
    write(view, outcome.partition, std::move(outcome.record), now);
  }
  const auto refresh = [&](ring::Batch& batch) {
    batch.ring_fingerprint = view.ring().fingerprint();
    for (ring::PartitionTenure& entry : batch.tenures) entry.tenure = tenures.of(entry.partition);
  };
  for (const ring::PeerId& peer : due_.due(now)) {
    Queue& queue = queues_.at(peer);
    queue.window.resend(now, peer, refresh, out);
    while (!queue.waiting.empty() && queue.window.open(now) && due(queue, now))
      send(peer, queue, view, tenures, now, new_sequence(), out);
    schedule(peer, queue);
  }
}

bool Replicator::acknowledged(const ring::PeerId& from, std::uint64_t sequence) {
  const auto queue = queues_.find(from);
  if (queue == queues_.end()) return false;
  const auto flight = queue->second.window.acknowledged(sequence);
  if (!flight) return false;
  schedule(from, queue->second);
  items_ -= flight->content.size();
  for (const ring::BatchRecord& record : flight->batch.records) bytes_ -= record.record.size();
  end_waits(queue->second.waits, queue->second.safe());
  if (!wait_for_all_.empty()) end_waits(wait_for_all_, safe());
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
  schedule(from, queue->second);
  return true;
}

void Replicator::owners_changed(const View& view, Time now) {
  std::map<std::uint64_t, Item> items;  // each once, by number
  std::vector<Waiting> waits;
  for (auto& [peer, queue] : queues_) {
    for (const auto& [sequence, flight] : queue.window.flights())
      for (Item& item : items_of(flight)) items.try_emplace(item.number, std::move(item));
    for (Item& item : queue.waiting) items.try_emplace(item.number, std::move(item));
    for (const Waiting& wait : queue.waits.entries()) waits.push_back(wait);
  }
  for (const Waiting& wait : wait_for_all_.entries()) waits.push_back(wait);
  std::sort(waits.begin(), waits.end(), [](const Waiting& a, const Waiting& b) { return a.number < b.number; });
  wait_for_all_ = {};
  for (const Waiting& wait : waits)
    if (dependents_->waits(wait.id)) wait_for_all_.add(*dependents_, wait);
  queues_.clear();
  due_.clear();
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
  for (const auto& [peer, queue] : queues_) schedule(peer, queue);
  end_waits(wait_for_all_, safe());
}

std::optional<Time> Replicator::deadline_of(const Queue& queue) const {
  std::optional<Time> earliest = queue.window.next_deadline();
  if (queue.waiting.empty() || !queue.window.has_room()) return earliest;
  const bool full = queue.waiting.size() >= config_.batch.max_records;
  const Time at = full ? queue.window.not_before() : std::max(queue.oldest + config_.age, queue.window.not_before());
  return std::min(earliest.value_or(at), at);
}

}  // namespace orbweaver
