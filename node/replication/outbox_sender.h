// Foreign URLs on their way to their owners. The store's outbox is the truth. This holds, for each owner, a bounded
// part of it in memory, and the batches in flight (node/replication/batch_window.h). An entry leaves the outbox only
// when its owner has acknowledged it, after the owner's own durable write.
//
// Bounds: memory_records entries and batch.max_in_flight batches for each owner, memory_bytes of waiting records for
// all owners; what is more stays on disk until there is room. A dead or slow owner costs disk only. Pure but for reads
// of the store. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "node/base.h"
#include "node/replication/batch_window.h"
#include "node/replication/view.h"
#include "ring/messages.h"
#include "storage/store.h"

namespace orbweaver {

class OutboxSender {
 public:
  struct Config {
    BatchLimits batch;
    Duration age{std::chrono::milliseconds{100}};  // an entry waits this long for others to go with it
    std::size_t memory_records = 65536;
    std::uint64_t memory_bytes = UINT64_MAX;
  };
  // `first_sequence` must be far from any that this peer used before (a random number): late acks find nothing.
  OutboxSender(Config config, storage::Store& store, std::uint64_t first_sequence);

  // Entries that a commit put into the outbox.
  void add(const std::vector<storage::OutboxEntry>& entries, const View& view, Time now);
  // After a change of owners, and at start: what is on disk is sorted out again.
  void owners_changed(const View& view);
  // A peer is gone: its batches in flight will not be answered.
  void forget_peer(const ring::PeerId& peer);

  // Forms batches that are due, resends those not acknowledged in time.
  Result<void> tick(Time now, const View& view, std::vector<BatchOut>& out);
  std::optional<Time> next_deadline() const;

  // The entries to take out of the outbox; empty for a batch not known.
  std::vector<storage::OutboxKey> acknowledged(const ring::PeerId& from, std::uint64_t sequence);
  // The owner says that it is not: the entries go back, and wait a moment for the views to agree.
  void refused(const ring::PeerId& from, std::uint64_t sequence, Time now);

  // Outbox entries whose owner is this peer itself (after a change of owners); the caller admits them and takes them
  // out.
  Result<std::vector<storage::OutboxEntry>> take_own(const View& view, std::size_t limit);

  std::uint64_t batches_sent() const { return batches_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t records_sent() const { return records_sent_; }
  std::uint64_t batches_acknowledged() const { return batches_acknowledged_; }
  std::size_t batches_in_flight() const;
  std::uint64_t bytes() const;                               // of records in memory, those in flight too
  std::uint64_t new_sequence() { return next_sequence_++; }  // for other batches of this peer
  // Every outbox entry with a lower number is acknowledged. Exact to a group of entries_a_group entries.
  std::uint64_t safe() const { return open_.empty() ? UINT64_MAX : open_.begin()->first; }
  // Entries that left the outbox, by acknowledgement or because they are this peer's own.
  void taken_out(const std::vector<storage::OutboxKey>& keys);

 private:
  struct Entries {  // of one batch
    std::vector<storage::OutboxKey> keys;
    std::uint64_t bytes = 0;
  };
  struct Queue {
    explicit Queue(const BatchLimits& limits) : window(limits) {}
    std::deque<storage::OutboxEntry> waiting;
    std::size_t waiting_bytes = 0;
    Time oldest{};         // when the first of `waiting` came
    bool on_disk = false;  // the outbox may hold entries for this owner that are neither waiting nor in flight
    BatchWindow<Entries> window;
  };
  Queue& queue_of(const ring::PeerId& owner) { return queues_.try_emplace(owner, config_.batch).first->second; }
  // All that is on disk for the owner may be read: none of it is in memory or in flight.
  static bool must_reload(const Queue& queue) { return queue.on_disk && queue.waiting.empty() && queue.window.empty(); }
  Result<void> reload(const ring::PeerId& owner, Queue& queue, const View& view, Time now);
  void send(const ring::PeerId& owner, Queue& queue, const View& view, Time now, std::vector<BatchOut>& out);
  bool due(const Queue& queue, Time now) const;
  bool has_room(const Queue& queue) const {
    return queue.waiting.size() < config_.memory_records && waiting_bytes_ < config_.memory_bytes;
  }

  Config config_;
  storage::Store* store_;
  std::map<ring::PeerId, Queue> queues_;
  // Entries in the outbox, in groups by number: the first number of each and how many are still there. What an earlier
  // process left is one group, 0.
  std::map<std::uint64_t, std::uint64_t> open_;
  std::uint64_t newest_group_entries_ = 0;  // put into the newest so far
  std::uint64_t waiting_bytes_ = 0;         // of all queues
  bool own_on_disk_ = true;
  std::uint64_t next_sequence_;
  std::uint64_t batches_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t records_sent_ = 0;
  std::uint64_t batches_acknowledged_ = 0;
};

}  // namespace orbweaver
