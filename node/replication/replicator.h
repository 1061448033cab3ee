// The second copy of every write: what a commit changed in a partition goes to the peers that must have it too
// (View::copies), in batches, until they acknowledge it. What waits for copies (dependents.h):
//
// - A batch of links is acknowledged to its sender only when what it brought has its copies.
// - Links first: the outcome of a fetched page leaves this peer only after all links of the page are safe: those that
//   it brought, own ones copied and foreign ones acknowledged by their owners, which have copied them; and those that
//   were known already. So a replica never treats a page as fetched whose links died with its owner: it fetches the
//   page again and finds them.
//
// Each record to be copied is an item with a running number. Items are in memory only: after a restart the copies are
// compared and repaired (node/replication/transfers.h). To each peer items go by number, so who waits for items waits,
// at each of their peers, until all up to a number are acknowledged. When the owners change, the items go to other
// peers, and who waited then waits for all items, wherever they are, up to its last one.
//
// Bounds: at most about max_items items and max_items outcomes, and max_bytes of the records of each. items_full(): the
// peer starts no more fetches and takes no more batches of links. Outcomes do not count there, because they may wait
// for other peers that wait for this one. When there are too many of them, the first is given up: a fill brings it
// later (CopiedUntil::note_unsent). When a peer dies, its items go to the peer that takes its place, as soon as the
// ring says so. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/replication/batch_window.h"
#include "node/replication/dependents.h"
#include "node/replication/due_times.h"
#include "node/replication/view.h"
#include "ring/messages.h"
#include "ring/table_sizes.h"
#include "ring/tenures.h"
#include "storage/store.h"

namespace orbweaver {

class Replicator {
 public:
  struct Config {
    BatchLimits batch;
    Duration age{std::chrono::milliseconds{5}};  // an item waits this long for others to go with it
    std::size_t max_items = 65536;
    std::uint64_t max_bytes = UINT64_MAX;
  };
  // `dependents` outlives it.
  Replicator(Config config, Dependents& dependents) : config_(config), dependents_(&dependents) {}

  // Records that a commit changed, other than outcomes: they leave at once. `id`, if not 0, waits for the copies.
  void write(const View& view, ring::Partition partition, std::string record, Time now, Dependents::Id id = 0);
  // The dependent waits for the copies of what was written in the partition; or of all that was written.
  void wait_for(const View& view, ring::Partition partition, Dependents::Id id);
  void wait_for_all(Dependents::Id id);
  // A fetched page's outcome: leaves when `id` waits for nothing more, and closes it.
  void write_after(ring::Partition partition, const storage::UrlKey& key, std::string record, Time fetched,
                   Dependents::Id id);
  void tick(Time now, const View& view, const ring::Tenures& tenures,
            const std::function<std::uint64_t()>& new_sequence, std::vector<BatchOut>& out);

  // Outcomes that were given up since the last call, because there were too many.
  struct GivenUp {
    ring::Partition partition = 0;
    Time fetched{};
  };
  std::vector<GivenUp> take_given_up() { return std::exchange(given_up_, {}); }

  // True when the batch was sent from here.
  bool acknowledged(const ring::PeerId& from, std::uint64_t sequence);
  bool refused(const ring::PeerId& from, std::uint64_t sequence, Time now);
  // Items go to the peers that now keep copies of their partitions.
  void owners_changed(const View& view, Time now);

  std::uint64_t issued() const { return issued_; }  // number of the last item
  std::uint64_t safe() const;                       // all items up to this one have their copies
  bool waits(const storage::UrlKey& key) const { return delayed_.contains(key); }  // its outcome has not left yet
  bool waits_in(ring::Partition partition) const {
    const auto first = delayed_.lower_bound({{partition, {}}, {}});
    return first != delayed_.end() && first->host.partition == partition;
  }
  // As waits_in(), for outcomes of dependents up to this one; for a while it may say so of another partition's.
  bool waits_in(ring::Partition partition, Dependents::Id until) const {
    return !outcomes_.empty() && outcomes_.begin()->first <= until && waits_in(partition);
  }
  // When the first page whose outcome is here was fetched.
  std::optional<Time> earliest_outcome() const {
    return fetched_.empty() ? std::nullopt : std::optional(*fetched_.begin());
  }
  bool idle() const { return items_ == 0 && outcomes_.empty(); }
  bool items_full() const { return items_ >= config_.max_items || bytes_ >= config_.max_bytes; }
  std::uint64_t bytes() const { return bytes_ + outcome_bytes_; }  // of records that wait or are in flight
  std::size_t waiting() const { return items_ + outcomes_.size(); }
  std::uint64_t records_sent() const { return records_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t batches_sent() const { return batches_sent_; }
  std::uint64_t outcomes_given_up() const { return outcomes_given_up_; }
  std::optional<Time> next_deadline() const { return due_.first(); }
  ring::TableSizes tables() const;

 private:
  struct Item {
    std::uint64_t number = 0;
    ring::Partition partition = 0;
    std::string record;
  };
  struct Waiting {
    std::uint64_t number = 0;  // until this item, and all before it, are acknowledged
    Dependents::Id id = 0;
  };
  using Numbers = std::vector<std::uint64_t>;  // of the items whose records are in a batch, in its order
  struct Queue {
    explicit Queue(const BatchLimits& limits) : window(limits) {}
    std::deque<Item> waiting;  // by number
    Time oldest{};
    BatchWindow<Numbers> window;
    WaitingList<Waiting, std::deque> waits;  // by number
    bool idle() const { return waiting.empty() && window.empty(); }
    std::uint64_t safe() const;  // all items for it up to this one are acknowledged
  };
  struct PendingOutcome {
    ring::Partition partition = 0;
    storage::UrlKey key;
    Time fetched{};
    std::string record;
  };
  Queue& queue_of(const ring::PeerId& peer) { return queues_.try_emplace(peer, config_.batch).first->second; }
  static std::vector<Item> items_of(const BatchWindow<Numbers>::Flight& flight);
  bool due(const Queue& queue, Time now) const {
    return queue.waiting.size() >= config_.batch.max_records || now - queue.oldest >= config_.age;
  }
  // After each change of a queue.
  void schedule(const ring::PeerId& peer, const Queue& queue) { due_.set(peer, deadline_of(queue)); }
  std::optional<Time> deadline_of(const Queue& queue) const;
  void send(const ring::PeerId& to, Queue& queue, const View& view, const ring::Tenures& tenures, Time now,
            std::uint64_t sequence, std::vector<BatchOut>& out);

  void add_wait(WaitingList<Waiting, std::deque>& list, std::uint64_t number, Dependents::Id id);
  void end_waits(WaitingList<Waiting, std::deque>& list, std::uint64_t safe);
  PendingOutcome take_outcome(std::map<Dependents::Id, PendingOutcome>::iterator at);

  Config config_;
  Dependents* dependents_;
  std::map<ring::PeerId, Queue> queues_;
  DueTimes due_;                                   // of the queues
  WaitingList<Waiting, std::deque> wait_for_all_;  // by number: for items of all queues
  std::map<Dependents::Id, PendingOutcome> outcomes_;
  std::vector<GivenUp> given_up_;
  std::multiset<Time> fetched_;  // of the outcomes
  std::multiset<storage::UrlKey> delayed_;
  std::uint64_t issued_ = 0;
  std::size_t items_ = 0;    // in all queues, in flight too
  std::uint64_t bytes_ = 0;  // likewise
  std::uint64_t outcome_bytes_ = 0;
  std::uint64_t records_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t batches_sent_ = 0;
  std::uint64_t outcomes_given_up_ = 0;
};

}  // namespace orbweaver
