#include "node/replication/outbox_sender.h"

#include <algorithm>

#include "node/errors/storage_error.h"

namespace orbweaver {

namespace {

// Entries that are read back from the outbox at a time.
constexpr std::size_t entries_a_read = 1024;

}  // namespace

OutboxSender::OutboxSender(Config config, storage::Store& store, Dependents& dependents, RisingNumber sequences)
    : config_(config),
      store_(&store),
      open_(dependents, store.counts().outbox, store.next_outbox()),
      sequences_(sequences) {}

void OutboxSender::add(const std::vector<storage::OutboxEntry>& entries, const View& view, Time now,
                       Dependents::Id id) {
  for (const storage::OutboxEntry& entry : entries) {
    open_.add(entry.key.sequence, id);
    if (view.empty() || view.owns(entry.key.partition)) {
      own_on_disk_ = true;
      continue;
    }
    const ring::PeerId& owner = view.owner(entry.key.partition);
    Queue& queue = queue_of(owner);
    // Once some entries are on disk only, later ones stay there too: they are read back in order.
    if (queue.on_disk || !has_room(queue)) {
      queue.on_disk = true;
      schedule(owner, queue);
      continue;
    }
    const bool first = queue.waiting.empty();
    if (first) queue.oldest = now;
    queue.waiting_bytes += entry.record.size();
    waiting_bytes_ += entry.record.size();
    queue.waiting.push_back(entry);
    if (first || due(queue, now)) schedule(owner, queue);
  }
}

void OutboxSender::owners_changed(const View& view) {
  // Late answers to these find nothing; the entries are sent again to their present owners (merging is idempotent).
  std::map<ring::PeerId, Queue> before = std::exchange(queues_, {});
  waiting_bytes_ = 0;
  due_.clear();
  if (store_->counts().outbox == 0) return;
  own_on_disk_ = true;
  if (view.empty()) return;
  for (std::uint32_t partition = 0; partition < view.partitions(); ++partition) {
    const ring::PeerId& owner = view.owner(static_cast<ring::Partition>(partition));
    if (owner == view.self() || queues_.contains(owner)) continue;
    Queue& queue = queue_of(owner);
    queue.on_disk = true;
    if (const auto known = before.find(owner); known != before.end()) {
      queue.window = std::move(known->second.window);  // how much it takes
      queue.window.clear();
    }
    schedule(owner, queue);
  }
}

void OutboxSender::forget_peer(const ring::PeerId& peer) {
  const auto found = queues_.find(peer);
  if (found == queues_.end()) return;
  if (!found->second.window.empty()) found->second.on_disk = true;
  found->second.window.clear();
  schedule(peer, found->second);
}

// Everything on disk for an owner is known to be unsent only when none of it is in memory or in flight.
Result<void> OutboxSender::reload(const ring::PeerId& owner, Queue& queue, const View& view, Time now) {
  queue.on_disk = false;
  for (const ring::Partition partition : view.ring().partitions_of(owner)) {
    std::uint64_t after = 0;
    for (bool more = true; more;) {
      // At least one read, however full the other queues are: an owner's batch may always go.
      if (!queue.waiting.empty() && !has_room(queue)) {
        queue.on_disk = true;
        break;
      }
      const std::size_t limit = std::min(entries_a_read, config_.memory_records - queue.waiting.size());
      auto found = store_->outbox_of(partition, after, limit);
      if (!found) return tl::make_unexpected(error_of(found.error()));
      more = found->size() == limit;
      for (storage::OutboxEntry& entry : *found) {
        after = entry.key.sequence;
        queue.waiting_bytes += entry.record.size();
        waiting_bytes_ += entry.record.size();
        queue.waiting.push_back(std::move(entry));
      }
    }
    if (queue.on_disk) break;
  }
  queue.oldest = now - config_.age;  // has waited long enough
  return {};
}

bool OutboxSender::due(const Queue& queue, Time now) const {
  return !config_.batch.has_room(queue.waiting.size(), queue.waiting_bytes) || now - queue.oldest >= config_.age;
}

void OutboxSender::send(const ring::PeerId& owner, Queue& queue, const View& view, Time now,
                        std::vector<BatchOut>& out) {
  Entries entries;
  std::vector<ring::BatchRecord> records;
  while (!queue.waiting.empty() && config_.batch.has_room(records.size(), entries.bytes)) {
    storage::OutboxEntry& entry = queue.waiting.front();
    entries.bytes += entry.record.size();
    entries.keys.push_back(entry.key);
    records.push_back({entry.key.partition, std::move(entry.record)});
    queue.waiting.pop_front();
  }
  queue.waiting_bytes -= entries.bytes;
  waiting_bytes_ -= entries.bytes;
  queue.oldest = now;
  ++batches_sent_;
  bytes_sent_ += entries.bytes;
  records_sent_ += records.size();
  ring::Batch batch{
      .sequence = new_sequence(), .ring_fingerprint = view.ring().fingerprint(), .records = std::move(records)};
  out.push_back({owner, queue.window.add(now, std::move(batch), std::move(entries))});
}

Result<void> OutboxSender::tick(Time now, const View& view, std::vector<BatchOut>& out) {
  if (view.empty()) return {};
  const auto refresh = [&view](ring::Batch& batch) { batch.ring_fingerprint = view.ring().fingerprint(); };
  for (const ring::PeerId& owner : due_.due(now)) {
    Queue& queue = queues_.at(owner);
    queue.window.resend(now, owner, refresh, out);
    if (now >= queue.window.not_before()) {
      if (must_reload(queue))
        if (Result<void> loaded = reload(owner, queue, view, now); !loaded) return loaded;
      while (!queue.waiting.empty() && queue.window.has_room() && due(queue, now)) send(owner, queue, view, now, out);
    }
    schedule(owner, queue);
  }
  return {};
}

std::optional<Time> OutboxSender::deadline_of(const Queue& queue) const {
  std::optional<Time> earliest = queue.window.next_deadline();
  const auto consider = [&](Time at) { earliest = std::min(earliest.value_or(at), at); };
  if (!queue.waiting.empty() && queue.window.has_room()) {
    const bool full = !config_.batch.has_room(queue.waiting.size(), queue.waiting_bytes);
    consider(full ? queue.window.not_before() : std::max(queue.oldest + config_.age, queue.window.not_before()));
  }
  if (must_reload(queue)) consider(queue.window.not_before());
  return earliest;
}

std::vector<storage::OutboxKey> OutboxSender::acknowledged(const ring::PeerId& from, std::uint64_t sequence) {
  const auto queue = queues_.find(from);
  if (queue == queues_.end()) return {};
  auto batch = queue->second.window.acknowledged(sequence);
  if (!batch) return {};
  schedule(from, queue->second);
  ++batches_acknowledged_;
  return std::move(batch->content.keys);
}

void OutboxSender::refused(const ring::PeerId& from, std::uint64_t sequence, Time now) {
  const auto queue = queues_.find(from);
  if (queue == queues_.end() || !queue->second.window.refused(sequence, now)) return;
  queue->second.on_disk = true;
  schedule(from, queue->second);
}

void OutboxSender::pushed_back(const ring::PeerId& from, std::uint64_t sequence, Time now) {
  const auto queue = queues_.find(from);
  if (queue != queues_.end() && queue->second.window.pushed_back(sequence, now)) schedule(from, queue->second);
}

Result<std::vector<storage::OutboxEntry>> OutboxSender::take_own(const View& view, std::size_t limit) {
  std::vector<storage::OutboxEntry> own;
  if (!own_on_disk_ || view.empty()) return own;
  for (const ring::Partition partition : view.ring().partitions_of(view.self())) {
    auto found = store_->outbox_of(partition, 0, limit - own.size());
    if (!found) return tl::make_unexpected(error_of(found.error()));
    for (storage::OutboxEntry& entry : *found) own.push_back(std::move(entry));
    if (own.size() >= limit) return own;
  }
  own_on_disk_ = false;
  return own;
}

std::uint64_t OutboxSender::bytes() const {
  std::uint64_t bytes = waiting_bytes_;
  for (const auto& [owner, queue] : queues_)
    for (const auto& [sequence, flight] : queue.window.flights()) bytes += flight.content.bytes;
  return bytes;
}

std::size_t OutboxSender::batches_in_flight() const {
  std::size_t count = 0;
  for (const auto& [owner, queue] : queues_) count += queue.window.size();
  return count;
}

}  // namespace orbweaver
