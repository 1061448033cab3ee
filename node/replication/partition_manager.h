// Which partitions this peer fetches, which it keeps copies of, and how they change hands. The ring (View) says which
// peer should hold a partition; its tenure says which peer does. For each partition, this peer is one of:
//
//   holder, and the owner      fetches it; fills the replicas
//   holder, not the owner      hands it over to the owner, which then holds it; fetches it until then
//   owner, not the holder      admits links, does not fetch; takes over when the holder is gone
//   replica                    keeps a copy; after each change of the tenure, and when the holder asks, returns what
//                              the holder may lack
//   none of these, with data   returns it, and drops it when the holder and its replicas have all of it
//
// After a take-over, and after its own restart, a holder asks all members for what they have before it fetches
// (docs/decisions/0026-after-a-restart.md). While pages of an earlier time may lack copies of their links
// (copied_until.h), no partition is handed over: its copies are filled first. No peer drops a copy before the holder
// says that it and its replicas have it. What must be on disk before it is acted upon is returned as commits.
//
// Cost: what a message, an event or a change of the view changes is planned partition by partition; all partitions only
// when what this peer may do has changed. Planned is in slices of plan_slice (plan_open()).
// Pure except for calls of the store. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/replication/copied_until.h"
#include "node/replication/record_asks.h"
#include "node/replication/transfers.h"
#include "node/replication/view.h"
#include "ring/membership.h"
#include "ring/messages.h"
#include "ring/table_sizes.h"
#include "ring/tenures.h"
#include "storage/store.h"

namespace orbweaver {

class PartitionManager {
 public:
  struct Config {
    Transfers::Config transfers;
    Duration compare_every{std::chrono::seconds{5}};  // anti-entropy: a slice of the partitions each time
    std::size_t compare_partitions = 64;
    Duration unknown_wait{std::chrono::seconds{10}};  // a holder that is not a member for this long is gone
    std::size_t plan_slice = 1024;                    // partitions planned in one step
  };
  // Changes of tenures that this peer decides: they must be on disk before any other peer learns them.
  using Changes = std::vector<ring::PartitionTenure>;

  // All outlive it.
  PartitionManager(Config config, const ring::PeerId& self, std::uint32_t partitions, storage::Store& store,
                   const CopiedUntil& copied_until);

  // --- tenures ---
  const ring::Tenures& tenures() const { return tenures_; }
  // Reads the tenures of the last run from the store: this peer holds what it held then, until it learns otherwise.
  // Rows that cannot be read, or that no peer can have written, are left out: returns what is wrong with each.
  Result<std::vector<std::string>> restore(Time now);
  // A new ring: this peer holds all of it.
  Changes make_ring() const;
  // Learns what this peer's own actions changed; adds the rows to `commit`. True: something was news.
  bool learn(const std::vector<ring::PartitionTenure>& tenures, storage::Commit& commit) {
    return learn(tenures, commit, false);
  }
  // Learns what another peer reports, as far as Tenures::believes() it; what it does not believe is counted. `asked`:
  // the report answers a question of this peer.
  bool hear(const std::vector<ring::PartitionTenure>& tenures, storage::Commit& commit, bool asked = false);
  std::uint64_t tenures_refused() const { return tenures_refused_; }
  // After learn(): partitions that this peer has just taken over from peers that are gone.
  void took_over(const Changes& changes, const View& view, const ring::Membership& membership, Time now);
  // The newer tenures that are known for those in `asked`: the answer to a peer that acts on an older one.
  std::vector<ring::PartitionTenure> newer(const std::vector<ring::PartitionTenure>& asked,
                                           const ring::PeerId& from) const;

  // Reported by the peer that hands the partition over: becomes held_since() once this peer holds it.
  void last_access_unknown(ring::Partition partition, Time since) { last_access_unknown_[partition] = since; }

  // --- roles ---
  bool holds(ring::Partition partition) const { return held_.contains(partition); }
  bool fetches(ring::Partition partition) const;
  // No host of the partition is asked before its delay has passed since then.
  Time held_since(ring::Partition partition) const;
  // Partitions that became fetchable, or stopped being so, since the last call.
  std::vector<ring::Partition> take_fetchability_changes();

  // What this peer may do has changed: all partitions are to be planned.
  void plan_all() {
    sweep_left_ = tenures_.size();
    members_changed_ = true;
  }
  // The view has changed, and with it the owners or replicas of these.
  void owners_changed(const std::vector<ring::Partition>& partitions);
  // Members that came, are gone, or are back: what they hold, and what waits for them, is to be planned.
  void members_changed(const std::set<ring::PeerId>& peers);
  // Partitions are left to be planned.
  bool plan_open() const { return sweep_left_ > 0 || !dirty_.empty(); }
  // Or it is time to look again at those whose holder is not a known member.
  bool plan_wanted(Time now) const { return plan_open() || (!of_unknown_.empty() && now >= unknown_due_); }
  // Plans what to do with the next of them, at most plan_slice. `may_take`: partitions whose holder is gone may be
  // taken over.
  Changes plan(const View& view, const ring::Membership& membership, Time now, bool may_take);
  // Work that is due: transfers, drops, anti-entropy. `changes`: hand-offs that are complete.
  Result<void> tick(Time now, const View& view, const Transfers::World& world, std::vector<Transfers::Out>& out,
                    Changes& changes);

  // For a snapshot (node/peer/snapshot_desk.h): from now on no copy is dropped, until that is taken back.
  void keep_all(bool keep) { keep_all_ = keep; }
  bool keeps_all() const { return keep_all_; }

  // --- messages ---
  ring::RootsCompared on_roots(const ring::PeerId& from, const ring::Roots& roots, const View& view);
  Result<std::optional<ring::LeavesDiffer>> on_leaves(const ring::Leaves& leaves, const View& view);
  void on_compared(const ring::PeerId& from, const ring::RootsCompared& answer, Time now) {
    transfers_.compared(from, answer, now);
  }
  void on_leaves_differ(const ring::PeerId& from, const ring::LeavesDiffer& answer) {
    transfers_.leaves_differ(from, answer);
  }
  // "What do you have of the partitions that I hold?"
  ring::RecordsKnown on_ask(const ring::PeerId& from, const ring::AskRecords& ask, const View& view) const;
  void on_known(const ring::PeerId& from, const ring::RecordsKnown& answer, Time now);
  bool acknowledged(const ring::PeerId& from, std::uint64_t sequence) {
    return transfers_.acknowledged(from, sequence);
  }
  bool refused(const ring::PeerId& from, std::uint64_t sequence, Time now) {
    return transfers_.refused(from, sequence, now);
  }
  bool pushed_back(const ring::PeerId& from, std::uint64_t sequence, Time now) {
    return transfers_.pushed_back(from, sequence, now);
  }
  // A peer has returned all that it had of some partitions. It counts under the present tenure of each: for an earlier
  // one it had been asked before, and may have received more since. And it counts only when this process was asked what
  // it lacks: an earlier one had more.
  void completed(const ring::PeerId& from, const ring::Batch& batch);
  // Something was written into a partition that this peer does not hold, other than by the holder.
  void late_write(ring::Partition partition) {
    if (transfers_.wanted({tenures_.of(partition).holder, partition}) || transfers_.any_done())
      written_late_.insert(partition);
    patient_.insert(partition);
    releasing_.erase(partition);
    return_again(partition);
  }
  // A page's outcome was not copied: once all is settled the copies are filled, or the partition returned, again.
  void note_unsent(ring::Partition partition, const View& view);

  // What has its copies has changed what is to be done: plan_all().
  bool take_plan_wanted() const { return settled_ != copied_until_->settled(); }
  // Every copy of the partition in this view has acknowledged a fill of this process.
  bool copies_whole(ring::Partition partition, const View& view) const;
  // Also each page's outcome: no copy has pages as they were before their fetch.
  bool copies_complete(ring::Partition partition, const View& view) const;
  // That goes for all that this peer holds, there are copies, and what it has of other partitions their holders have.
  // As of the last plan: not to be relied upon while plan_open().
  bool all_whole(const View& view) const {
    return !view.empty() && to_return() == 0 && unfilled_.empty() && stranded_.empty();
  }

  // Nothing is changing hands, and this peer fetches everything that it owns.
  bool at_rest() const;
  std::size_t held() const { return held_.size(); }
  std::size_t to_gain() const { return gaining_.size(); }
  // Partitions that this peer holds and that wait for other peers' returns, by the peer they wait for.
  std::map<ring::PeerId, std::vector<ring::Partition>> awaited() const;
  std::size_t to_hand_over() const { return transfers_.tasks(ring::TransferKind::hand_off); }
  // What their holders may lack, as far as this peer knows. A copy of a busy partition that is compared every few
  // seconds answers with a return nearly each time: that is none of these.
  std::size_t to_return() const { return transfers_.owed() + transfers_.tasks(ring::TransferKind::release); }
  // A copy is being filled or repaired; or a copy, or the holder of what this peer returned, has pages as they were
  // before their fetch. One that is only compared does not count.
  bool fills() const { return transfers_.fills() > 0 || !in_part_.empty() || !returned_in_part_.empty(); }
  std::size_t to_backfill() const { return transfers_.tasks(ring::TransferKind::backfill); }
  const Transfers& transfers() const { return transfers_; }
  std::optional<Time> next_deadline() const;
  ring::TableSizes tables() const;

 private:
  struct Holding {
    Time since{};
    bool restored = false;        // held since an earlier process; this one has not asked the others yet
    RecordAsks::Round round = 0;  // in which all others are asked what they have
    // Its copies, and others that have something: their return is not complete yet.
    std::set<ring::PeerId> awaited = {};
    std::set<ring::PeerId> giving = {};   // of these, those that have answered
    std::set<ring::PeerId> keepers = {};  // that kept a copy when they were asked
    Time asked{};                         // when they were
    // Who asked last what this process lacks, to return that, and the number of the question.
    std::map<ring::PeerId, std::uint64_t> returning = {};
  };
  using Reachable = std::function<bool(const ring::PeerId&)>;
  struct Planning {  // one call of plan()
    const View& view;
    const ring::Membership& membership;
    Time now;
    bool may_take;
    Reachable reachable;
    Changes& changes;
  };
  bool learn(const std::vector<ring::PartitionTenure>& tenures, storage::Commit& commit, bool heard);
  bool waits(const Holding& holding) const { return !holding.awaited.empty() || asks_.open(holding.round); }
  void await_others(ring::Partition partition, Holding& holding, RecordAsks::Round round, const View& view,
                    const Reachable& reachable, Time now);
  void begin_planning(const Planning& planning);
  void plan_one(ring::Partition partition, const Planning& planning);
  void plan_held(ring::Partition partition, Holding& holding, const Planning& planning);
  void plan_kept(ring::Partition partition, const Planning& planning);
  bool gone(const ring::PeerId& holder, ring::Partition partition, const Planning& planning);
  void cancel_unneeded(ring::Partition partition, const View& view);
  void forget_copies(ring::Partition partition, const std::function<bool(const ring::PeerId&)>& except);
  void note_whole(ring::Partition partition, const View& view);
  void stop_awaiting_the_silent(Time now, const View& view);
  void await(ring::Partition partition, Holding& holding, const ring::PeerId& peer, Time now);
  void waits_no_more(ring::Partition partition, Holding& holding);
  void note_ended_asks();
  void return_again(ring::Partition partition) {
    returned_in_part_.erase(partition);
    returned_.erase(partition);
    dirty_.insert(partition);
  }
  void returned_all(const ring::PeerId& from, ring::Partition partition);
  void fill_anew(ring::Partition partition, const ring::PeerId& copy);
  void finish_task(const Transfers::Done& done, const View& view, Changes& changes);
  void compare_slice(Time now, const View& view);
  void fetchability_changed(ring::Partition partition) { fetchability_changed_.insert(partition); }
  Result<void> release_some(const View& view);
  bool returns_any() const {
    return transfers_.tasks(ring::TransferKind::return_) + transfers_.tasks(ring::TransferKind::release) > 0;
  }
  bool drops_at_the_end() const;

  Config config_;
  ring::PeerId self_;
  storage::Store* store_;
  const CopiedUntil* copied_until_;
  ring::Tenures tenures_;
  std::uint64_t tenures_refused_ = 0;
  Transfers transfers_;
  std::map<ring::Partition, Holding> held_;
  std::set<ring::Partition> returned_;                             // by this peer, as a replica
  std::set<ring::Partition> written_late_;                         // while this peer returned them
  std::set<ring::Partition> patient_;                              // to be returned because of late writes alone
  std::set<ring::Partition> returned_in_part_;                     // with pages as before their fetch, or to be
  std::set<std::pair<ring::Partition, ring::PeerId>> backfilled_;  // copies that have acknowledged a fill
  std::set<std::pair<ring::Partition, ring::PeerId>> in_part_;     // copies with pages as they were before their fetch
  std::set<ring::Partition> asked_;                                // of this peer by the holder: what it has
  std::set<ring::Partition> asked_again_;                          // of these, while it returned them
  std::set<ring::Partition> releasing_;
  std::set<ring::Partition> fetchability_changed_;
  std::map<ring::PeerId, Time> unknown_since_;           // holders that are not known members
  std::set<ring::Partition> of_unknown_;                 // what they hold and this peer owns
  Time unknown_due_{};                                   // when the first of them counts as gone
  std::map<ring::Partition, Time> last_access_unknown_;  // of partitions that are being handed over to this peer
  std::set<ring::Partition> offered_;                    // these, since this process began
  RecordAsks asks_;
  std::optional<RecordAsks::Round> restored_round_;  // of what the last run held, once it has begun
  std::set<ring::Partition> dirty_;                  // to be planned
  bool keep_all_ = false;
  bool one_other_ = false;      // View::one_other(), as of the last tick()
  std::size_t sweep_left_ = 0;  // and so many from sweep_at_ on, in a circle
  ring::Partition sweep_at_ = 0;
  std::set<ring::Partition> gaining_;   // owned or held, and not fetched yet
  std::set<ring::Partition> awaiting_;  // held, and peers are awaited by name
  std::set<ring::Partition> unfilled_;  // held, and without copies that are whole
  std::set<ring::Partition> stranded_;  // not all returned, and their holders are out of reach
  bool members_changed_ = false;        // since the last plan()
  bool settled_ = true;                 // as of the last plan()
  Time next_look_{};                    // at members that do not answer
  Time next_compare_{};
  ring::Partition compare_at_ = 0;
  std::vector<std::pair<ring::Partition, std::uint64_t>> candidates_;  // to be compared if their root is still this one
};

// A row of the meta table: this, then the partition (u16 big-endian) -> epoch (u64), holder (16 bytes).
inline constexpr std::string_view tenure_prefix = "tenure/";
std::pair<std::string, std::string> tenure_row(const ring::PartitionTenure& held);

}  // namespace orbweaver
