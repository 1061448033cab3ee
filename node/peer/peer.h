// A peer of its ring: the conductor of its parts. Pure: step(now, event, commands); no socket, clock, thread or random
// device; the only thing that it calls is the store. Each part owns its state and its rules (decision 24). What is here
// is the order in which they act: which part takes which message, and what is due after it.
//
//   fetch -> parse -> resolve + canonicalise -> scope -> route -+- own ----> seen? -> frontier -> fetch
//                                                               +- foreign -> link cache -> outbox -> batch -> owner
//
// Its files: peer.cc (start, step, what is due), peer_messages.cc (messages), peer_ring.cc (the ring, the end). Thread
// rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/coordination/doorkeeper.h"
#include "node/coordination/end_parts.h"
#include "node/coordination/fence.h"
#include "node/crawl/event_log.h"
#include "node/links/batch_intake.h"
#include "node/peer/outside_faults.h"
#include "node/peer/own_answers.h"
#include "node/peer/peer_status.h"
#include "node/peer/questions.h"
#include "node/peer/ring_entry.h"
#include "node/peer/snapshot_desk.h"
#include "node/replication/partition_moves.h"
#include "node/scheduling/fetch_parts.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class Peer {
 public:
  // A peer of its ring, with what an earlier run left in the store. Errors: what in the directory cannot be read.
  static Result<std::unique_ptr<Peer>> enter(RingEntry entry, const Step& step);

  // An error: the store or the archive failed, and the process has to end.
  Result<void> step(const Step& step, Event& event);
  // When to step again (with a TickEvent) if nothing else happens.
  Time next_deadline(Time now) const;

  const ring::PeerId& id() const { return state_.id; }
  const ring::RingId& ring_id() const { return state_.ring; }
  const Settings& settings() const { return state_.settings; }
  // The partition's hosts may be asked by this peer now.
  bool fetches(ring::Partition partition) const {
    return fetches_.gate.open() && records_.replication.partition_manager.fetches(partition);
  }
  const ring::Tenures& tenures() const { return records_.replication.partition_manager.tenures(); }
  const Lifecycle& lifecycle() const { return lifecycle_; }
  const HostOrders& orders() const { return directives_.orders().hosts(); }
  // As this peer knows it.
  const ring::HashRing& ring() const { return members_.view().ring(); }
  bool is_member() const { return members_.membership().self().state == ring::MemberState::active; }
  // The use of all shares of memory, and of the machine, as the loop has found it.
  void note_use(MemoryUse memory, ProcessUse process);
  PeerStatus& status() { return status_; }
  const PeerStatus& status() const { return status_; }
  ring::TableSizes tables() const;

 private:
  Peer(RingEntry& entry, Time now);  // moves most values out of it
  Result<void> restore(const RingEntry& entry, const Step& step);
  Result<void> restore_tenures(const RingEntry& entry, Time now);
  Result<void> start_seen_set(std::uint64_t random_seed);
  Result<void> restore_crawl(const RingEntry& entry, const Step& step, storage::Commit& commit);
  Result<void> restore_counts(storage::Commit& commit);
  Result<void> restore_copies(Time now, storage::Commit& commit);

  // peer_messages.cc
  Result<void> receive(const Step& step, MessageEvent& event);
  Result<void> handle(const Step& step, MessageEvent& event);
  Result<void> handle_of_anyone(const Step& step, MessageEvent& event);
  Result<void> handle_of_ring(const Step& step, MessageEvent& event);
  Result<void> on_welcome(const Step& step, const ring::PeerId& from, const ring::Welcome& welcome);
  Result<void> on_sync(const Step& step, const ring::Message& in, const ring::Sync& sync, const ring::ReplyPath& reply);
  Result<void> on_compared(const Step& step, const ring::PeerId& from, const ring::TenuresCompared& answer);
  void on_wave_probe(const Step& step, const ring::Message& in, const ring::WaveProbe& probe,
                     const ring::ReplyPath& reply);

  // What is due after any event.
  Result<void> after(const Step& step);
  Result<void> send_batches(const Step& step);
  bool drained(Time now);
  void say_disk_room(const Step& step);
  void say_who_came_or_went(const Step& step) const;
  Result<void> act(const Step& step, Event& event);
  bool may_walk() const { return verdicts_.walk.under_way() && fetches_.gate.may_queue_again(); }

  // peer_ring.cc
  void ask_for_admission(const Step& step);
  Result<void> membership_changed(const Step& step);
  Result<void> write_members(const Step& step);
  bool passive() const;
  bool outcomes_to_fill() const;
  bool sends_waves() const;
  ring::WaveReply wave_reply();
  Ending::Own own_end();
  Result<void> end_tick(const Step& step);
  Result<void> leave_tick(const Step& step);
  Result<void> write_address(const Step& step);

  PeerState state_;
  std::optional<std::uint64_t> members_written_;           // a digest of the row of members on the disk
  std::map<ring::PeerId, std::string> addresses_written_;  // of the members there, in this life
  bool address_written_ = false;                           // the row of this peer's address is on the disk
  bool disk_was_low_ = false;                              // in the last step
  bool might_take_ = false;                                // partitions of peers that are gone, in the last step
  Members members_;
  RecordParts records_;
  Messenger messenger_;
  Lifecycle lifecycle_;
  EndParts ends_;
  Fence fence_;
  PartitionMoves moves_;
  Directives directives_;
  Admission admission_;
  Doorkeeper doorkeeper_;
  UrlVerdicts verdicts_;
  LinkParts links_;
  SeedIntake intake_;
  FetchParts fetches_;
  BatchIntake batches_;
  OutsideFaults faults_;
  PeerStatus status_;
  SnapshotDesk snapshots_;
  EventLog events_;
  History history_;
  OwnAnswers answers_;
  Questions questions_;
};

}  // namespace orbweaver
