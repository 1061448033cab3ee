// Foreign URLs on their way to their owners. The store's outbox is the truth. For each owner, this keeps a bounded part
// of it in memory, and the batches in flight (node/replication/batch_window.h). An entry leaves the outbox only when
// its owner has acknowledged it, after the owner's own durable write.
//
// Bounds: memory_records entries and batch.max_in_flight batches for each owner, memory_bytes of waiting records for
// all owners; anything beyond that stays on disk until there is room. A dead or slow owner costs only disk space, and
// what depends on it waits (dependents.h). Pure but for reads of the store. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "node/base.h"
#include "node/crawl/rising_number.h"
#include "node/replication/batch_window.h"
#include "node/replication/due_times.h"
#include "node/replication/open_entries.h"
#include "node/replication/view.h"
#include "ring/messages.h"
#include "ring/table_sizes.h"
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
  // `sequences`: above all that this peer used before, so that late acks find nothing. `store` and `dependents` outlive
  // it.
  OutboxSender(Config config, storage::Store& store, Dependents& dependents, RisingNumber sequences);

  // Adds entries that a commit put into the outbox; `id`, if not 0, waits until they have left it.
  void add(const std::vector<storage::OutboxEntry>& entries, const View& view, Time now, Dependents::Id id = 0);
  // After a change of owners, and at start: assigns what is on disk to owners again.
  void owners_changed(const View& view);
  // A peer is gone: its batches in flight will not be answered.
  void forget_peer(const ring::PeerId& peer);

  // Forms batches that are due, resends those not acknowledged in time.
  Result<void> tick(Time now, const View& view, std::vector<BatchOut>& out);
  std::optional<Time> next_deadline() const { return due_.first(); }

  // The entries to take out of the outbox; empty for an unknown batch.
  std::vector<storage::OutboxKey> acknowledged(const ring::PeerId& from, std::uint64_t sequence);
  // The receiver says that it is not the owner: the entries go back and wait a moment, until the views agree.
  void refused(const ring::PeerId& from, std::uint64_t sequence, Time now);
  // The receiver has no room now: the batch is sent again soon.
  void pushed_back(const ring::PeerId& from, std::uint64_t sequence, Time now);

  // Outbox entries whose owner is this peer itself (after a change of owners); the caller admits them and takes them
  // out.
  Result<std::vector<storage::OutboxEntry>> take_own(const View& view, std::size_t limit);

  std::uint64_t batches_sent() const { return batches_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t records_sent() const { return records_sent_; }
  std::uint64_t batches_acknowledged() const { return batches_acknowledged_; }
  std::size_t batches_in_flight() const;
  std::uint64_t bytes() const;                                // of records in memory, those in flight too
  std::uint64_t new_sequence() { return sequences_.next(); }  // for other batches of this peer
  // Every outbox entry with a lower number is acknowledged (OpenEntries::safe()).
  std::uint64_t safe() const { return open_.safe(); }
  // Entries that left the outbox, by acknowledgement or because they are this peer's own.
  void taken_out(const std::vector<storage::OutboxKey>& keys) { open_.take_out(keys); }
  // Which entries are in the outbox, and who waits for them.
  OpenEntries& open_entries() { return open_; }
  ring::TableSizes tables() const;

 private:
  struct Entries {  // of one batch
    std::vector<storage::OutboxKey> keys;
    std::uint64_t bytes = 0;
  };
  struct Queue {
    explicit Queue(const BatchLimits& limits) : window(limits) {}
    std::deque<storage::OutboxEntry> waiting;
    std::size_t waiting_bytes = 0;
    Time oldest{};         // when the first of `waiting` was added
    bool on_disk = false;  // the outbox may contain entries for this owner that are neither waiting nor in flight
    BatchWindow<Entries> window;
  };
  Queue& queue_of(const ring::PeerId& owner) { return queues_.try_emplace(owner, config_.batch).first->second; }
  // All that is on disk for the owner may be read: none of it is in memory or in flight.
  static bool must_reload(const Queue& queue) { return queue.on_disk && queue.waiting.empty() && queue.window.empty(); }
  Result<void> reload(const ring::PeerId& owner, Queue& queue, const View& view, Time now);
  void send(const ring::PeerId& owner, Queue& queue, const View& view, Time now, std::vector<BatchOut>& out);
  bool due(const Queue& queue, Time now) const;
  // After each change of a queue.
  void schedule(const ring::PeerId& owner, const Queue& queue) { due_.set(owner, deadline_of(queue)); }
  std::optional<Time> deadline_of(const Queue& queue) const;
  bool has_room(const Queue& queue) const {
    return queue.waiting.size() < config_.memory_records && waiting_bytes_ < config_.memory_bytes;
  }

  Config config_;
  storage::Store* store_;
  std::map<ring::PeerId, Queue> queues_;
  DueTimes due_;  // of the queues
  OpenEntries open_;
  std::uint64_t waiting_bytes_ = 0;  // of all queues
  bool own_on_disk_ = true;
  RisingNumber sequences_;
  std::uint64_t batches_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t records_sent_ = 0;
  std::uint64_t batches_acknowledged_ = 0;
};

}  // namespace orbweaver
