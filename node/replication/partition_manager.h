// Which partitions this peer fetches, which it keeps copies of, and how they change hands. The ring (View) says who
// should hold a partition; its tenure says who does. For each partition, this peer is one of:
//
//   holder, and the owner      fetches it; fills the replicas
//   holder, not the owner      hands it over to the owner, which then holds it; fetches until its turn comes
//   owner, not the holder      admits links, does not fetch; takes over when the holder is gone
//   replica                    keeps a copy; when the holder changed otherwise than by this peer's hand, gives back
//                              what the new one may lack
//   none of these, with data   gives it back, and drops it when the owner and its replicas have all of it
//
// After a take-over the new holder waits for what the replicas have before it fetches. Nobody drops a copy before the
// owner says that it and its replicas have it. What must be on disk before it is acted upon comes out as commits.
// Pure but for reads of the store. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/replication/transfers.h"
#include "node/replication/view.h"
#include "ring/membership.h"
#include "ring/messages.h"
#include "ring/tenures.h"
#include "storage/store.h"

namespace orbweaver {

class PartitionManager {
 public:
  struct Config {
    Transfers::Config transfers;
    Duration compare_every{std::chrono::seconds{5}};  // anti-entropy: a slice of the partitions each time
    std::size_t compare_partitions = 64;
    Duration unknown_wait{std::chrono::seconds{10}};  // a holder that is no member for this long is gone
  };
  // A change of hands that this peer decides: to be on disk before anyone hears of it.
  using Changes = std::vector<ring::PartitionTenure>;

  PartitionManager(Config config, const ring::PeerId& self, std::uint32_t partitions, storage::Store& store);

  // --- tenures ---
  const ring::Tenures& tenures() const { return tenures_; }
  // Of the last run, read from the store; what this peer held then it holds, until it hears otherwise. Rows that cannot
  // be read, or that nobody can have written, are left out: answers them, with why.
  Result<std::vector<std::string>> restore(Time now);
  // A new ring: this peer holds all of it.
  Changes make_ring() const;
  // What became known by this peer's own doing; adds the rows to `commit`. True: something was news.
  bool learn(const std::vector<ring::PartitionTenure>& tenures, storage::Commit& commit);
  // The same of another peer's word, as far as Tenures::believes() it; what it does not is counted.
  // `asked`: it answers a question of this peer's own.
  bool hear(const std::vector<ring::PartitionTenure>& tenures, storage::Commit& commit, bool asked = false);
  std::uint64_t tenures_refused() const { return tenures_refused_; }
  // Those that this peer has just taken over from peers that are gone, after learn().
  void took_over(const Changes& changes, const View& view, const ring::Membership& membership, Time now);
  // Of `asked`, those that are known newer: what a peer that acts on an older one is told.
  std::vector<ring::PartitionTenure> newer(const std::vector<ring::PartitionTenure>& asked,
                                           const ring::PeerId& from) const;

  // What the one who hands the partition over says of it: held_since(), once it is this peer's.
  void last_access_unknown(ring::Partition partition, Time since) { last_access_unknown_[partition] = since; }

  // --- roles ---
  bool holds(ring::Partition partition) const { return held_.contains(partition); }
  bool fetches(ring::Partition partition) const;
  // No host of the partition is asked before its delay has passed since then.
  Time held_since(ring::Partition partition) const;
  // Partitions that may be fetched now and could not before, or the other way round, since the last call.
  std::vector<ring::Partition> take_fetchability_changes();

  // Sorts out what is to be done after a change of the view or of tenures. `may_take`: partitions whose holder is gone
  // may be taken over.
  Changes plan(const View& view, const ring::Membership& membership, Time now, bool may_take);
  // A holder is not known as a member: plan() again after a while.
  bool holder_unknown() const { return !unknown_since_.empty(); }
  // Work that is due: transfers, drops, anti-entropy. `changes`: hand-offs that are complete.
  Result<void> tick(Time now, const View& view, const Transfers::World& world, std::vector<Transfers::Out>& out,
                    Changes& changes);

  // --- messages ---
  ring::RootsCompared on_roots(const ring::PeerId& from, const ring::Roots& roots, const View& view);
  Result<std::optional<ring::LeavesDiffer>> on_leaves(const ring::Leaves& leaves, const View& view);
  void on_compared(const ring::PeerId& from, const ring::RootsCompared& answer, Time now) {
    transfers_.compared(from, answer, now);
  }
  void on_leaves_differ(const ring::PeerId& from, const ring::LeavesDiffer& answer) {
    transfers_.leaves_differ(from, answer);
  }
  bool acknowledged(const ring::PeerId& from, std::uint64_t sequence) {
    return transfers_.acknowledged(from, sequence);
  }
  bool refused(const ring::PeerId& from, std::uint64_t sequence, Time now) {
    return transfers_.refused(from, sequence, now);
  }
  // A peer has given back all that it had of these.
  void completed(const ring::PeerId& from, const std::vector<ring::Partition>& partitions);
  // Something was written into a partition that this peer does not hold, other than by the holder.
  void late_write(ring::Partition partition) { returned_.erase(partition); }

  // Nothing is changing hands, and everything that this peer owns it fetches.
  bool at_rest() const;
  std::size_t held() const { return held_.size(); }
  std::size_t to_gain() const { return to_gain_; }
  // Partitions that wait for what this peer may have of them, by peer.
  std::map<ring::PeerId, std::vector<ring::Partition>> awaited() const;
  std::size_t to_hand_over() const { return transfers_.tasks(ring::TransferKind::hand_off); }
  std::size_t to_return() const {
    return transfers_.tasks(ring::TransferKind::return_) + transfers_.tasks(ring::TransferKind::release);
  }
  std::size_t to_backfill() const { return transfers_.tasks(ring::TransferKind::backfill); }
  const Transfers& transfers() const { return transfers_; }
  std::optional<Time> next_deadline() const;

 private:
  struct Holding {
    Time since{};
    std::set<ring::PeerId> awaited;  // replicas that have not given back yet
  };
  bool copies_whole(ring::Partition partition, const View& view) const;
  void plan_own(ring::Partition partition, const View& view);
  void compare_slice(Time now, const View& view);
  void fetchability_changed(ring::Partition partition) { fetchability_changed_.insert(partition); }
  Result<void> release_some(const View& view);

  Config config_;
  ring::PeerId self_;
  storage::Store* store_;
  ring::Tenures tenures_;
  std::uint64_t tenures_refused_ = 0;
  Transfers transfers_;
  std::map<ring::Partition, Holding> held_;
  std::set<ring::Partition> returned_;                             // by this peer, as a replica
  std::set<std::pair<ring::Partition, ring::PeerId>> backfilled_;  // copies that were compared and found or made equal
  std::set<ring::Partition> releasing_;
  std::set<ring::Partition> fetchability_changed_;
  std::map<ring::PeerId, Time> unknown_since_;           // holders that are not known as members
  std::map<ring::Partition, Time> last_access_unknown_;  // of partitions that are being handed over to this peer
  std::size_t to_gain_ = 0;
  Time next_compare_{};
  ring::Partition compare_at_ = 0;
  std::vector<std::pair<ring::Partition, std::uint64_t>> candidates_;  // to be compared if they keep this root
};

// What is stored in the meta table: this, then the partition (u16 big-endian) -> epoch (u64), holder (16 bytes).
inline constexpr std::string_view tenure_prefix = "tenure/";

}  // namespace orbweaver
