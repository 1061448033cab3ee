// The second copy of every write: what a commit changed in a partition goes to the peers that must have it too
// (View::copies), in batches, until they acknowledge it. Who waits for copies:
//
// - A batch of links is acknowledged to its sender only when everything written up to then has its copies.
// - Links first: the outcome of a fetched page leaves this peer only after all that the page brought is safe (its own
//   links copied, its foreign links acknowledged by their owners, which have copied them). So a replica never takes a
//   page for fetched whose links died with its owner: it fetches it again and finds them.
//
// Each record to be copied is an item with a running number. Items are in memory only: after a restart the copies are
// compared and repaired (node/replication/transfers.h).
//
// Bounds: at most about items_max items and items_max outcomes, and bytes_max of the records of each. full(): the peer
// starts no more fetches. items_full(): it takes no more batches of links either; outcomes do not count there, for they
// may wait for other peers that wait for this one. A copy's peer that dies is left out as soon as the ring says so, and
// its items go to whoever takes its place. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "node/base.h"
#include "node/replication/batch_window.h"
#include "node/replication/view.h"
#include "ring/messages.h"
#include "ring/tenures.h"
#include "storage/store.h"

namespace orbweaver {

class Replicator {
 public:
  struct Config {
    BatchLimits batch;
    Duration age{std::chrono::milliseconds{5}};  // an item waits this long for others to go with it
    std::size_t items_max = 65536;
    std::uint64_t bytes_max = UINT64_MAX;
  };
  explicit Replicator(Config config) : config_(config) {}

  // Records that a commit changed, other than outcomes: they leave at once.
  void write(const View& view, ring::Partition partition, std::string record, Time now);
  // A fetched page's outcome: leaves when all items written before and all outbox entries up to `outbox` are safe.
  void write_after(ring::Partition partition, const storage::UrlKey& key, std::string record, std::uint64_t outbox);
  // `outbox_safe`: every outbox entry below this number is acknowledged.
  void tick(Time now, const View& view, const ring::Tenures& tenures, std::uint64_t outbox_safe,
            const std::function<std::uint64_t()>& new_sequence, std::vector<BatchOut>& out);

  // True when the batch was one of these.
  bool acknowledged(const ring::PeerId& from, std::uint64_t sequence);
  bool refused(const ring::PeerId& from, std::uint64_t sequence, Time now);
  // Items of partitions with other copies now go there.
  void owners_changed(const View& view, Time now);

  std::uint64_t issued() const { return issued_; }  // number of the last item
  std::uint64_t safe() const;                       // all items up to this one have their copies
  bool waits(const storage::UrlKey& key) const { return held_back_.contains(key); }  // its outcome has not left yet
  bool waits_in(ring::Partition partition) const {
    const auto first = held_back_.lower_bound({{partition, {}}, {}});
    return first != held_back_.end() && first->host.partition == partition;
  }
  bool idle() const { return safe() == issued_ && outcomes_.empty(); }
  bool full() const {
    return items_full() || outcomes_.size() >= config_.items_max || outcome_bytes_ >= config_.bytes_max;
  }
  bool items_full() const { return items_ >= config_.items_max || bytes_ >= config_.bytes_max; }
  std::uint64_t bytes() const { return bytes_ + outcome_bytes_; }  // of records that wait or are in flight
  std::size_t waiting() const { return items_ + outcomes_.size(); }
  std::uint64_t records_sent() const { return records_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t batches_sent() const { return batches_sent_; }
  std::optional<Time> next_deadline() const;

 private:
  struct Item {
    std::uint64_t number = 0;
    ring::Partition partition = 0;
    std::string record;
  };
  using Numbers = std::vector<std::uint64_t>;  // of the items whose records are in a batch, in its order
  struct Queue {
    explicit Queue(const BatchLimits& limits) : window(limits) {}
    std::deque<Item> waiting;  // by number
    Time oldest{};
    BatchWindow<Numbers> window;
  };
  struct PendingOutcome {
    std::uint64_t items = 0;   // leaves when safe() has reached this
    std::uint64_t outbox = 0;  // and the outbox this
    ring::Partition partition = 0;
    storage::UrlKey key;
    std::string record;
  };
  Queue& queue_of(const ring::PeerId& peer) { return queues_.try_emplace(peer, config_.batch).first->second; }
  static std::vector<Item> items_of(const BatchWindow<Numbers>::Flight& flight);
  void send(const ring::PeerId& to, Queue& queue, const View& view, const ring::Tenures& tenures, Time now,
            std::uint64_t sequence, std::vector<BatchOut>& out);

  Config config_;
  std::map<ring::PeerId, Queue> queues_;
  std::deque<PendingOutcome> outcomes_;
  std::set<storage::UrlKey> held_back_;
  std::uint64_t issued_ = 0;
  std::size_t items_ = 0;    // in all queues, in flight too
  std::uint64_t bytes_ = 0;  // likewise
  std::uint64_t outcome_bytes_ = 0;
  std::uint64_t records_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t batches_sent_ = 0;
};

}  // namespace orbweaver
