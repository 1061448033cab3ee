// Partitions that change hands: tenures that are heard, decided and told; what must be safe before a partition goes;
// what other peers are told once what they sent has its copies. The rules are the partition manager's
// (partition_manager.h); here they meet the disk and the others. Thread rule: one owner (the peer's loop).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "node/replication/messenger.h"
#include "node/replication/record_writer.h"

namespace orbweaver {

class PartitionMoves {
 public:
  // All outlive it.
  PartitionMoves(const PeerState& state, const Members& members, const Messenger& messenger, Replication& replication,
                 Workbench& bench, RecordWriter& writer)
      : state_(&state),
        members_(&members),
        messenger_(&messenger),
        replication_(&replication),
        bench_(&bench),
        writer_(&writer) {}

  // Another peer's word on who holds what. `asked`: it answers a question of this peer's own.
  Result<void> hear(const Step& step, const std::vector<ring::PartitionTenure>& tenures, bool asked = false);
  // The other one may know other tenures. It is told this peer's, and tells its own for the same reason.
  void compare(const Step& step, const ring::PeerId& from, std::uint64_t fingerprint);

  // The sender of a batch is told that it is taken once all that was written before has its copies, for it forgets then
  // what it sent.
  void acknowledge(const Step& step, const ring::ReplyPath& reply, const ring::PeerId& from, std::uint64_t sequence);
  bool acknowledges_later() const { return !unanswered_.empty(); }

  // Another peer has taken a batch of this one's, or refuses it: links, copies, or a part of a partition.
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::BatchAck& taken);
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::BatchRefused& refused);
  // Another peer's roots and leaves, of copies that are compared.
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::Roots& roots, const ring::ReplyPath& reply);
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::RootsCompared& compared);
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::Leaves& leaves,
                    const ring::ReplyPath& reply);

  // `may_take`: partitions whose holder is gone may be taken over. `stays`: a partition does not move yet, for another
  // reason than those that are known here.
  Result<void> tick(const Step& step, bool may_take, const std::function<bool(ring::Partition)>& stays);

 private:
  struct Unanswered {
    ring::ReplyPath reply;
    ring::PeerId from;
    std::uint64_t sequence = 0;
    std::uint64_t items = 0;  // Replicator::safe() must have reached this
  };
  // What must be safe before a partition that is to move may go; noted when it fell quiet.
  struct SafeFrom {
    std::uint64_t outbox = 0;
    std::uint64_t items = 0;
  };

  Result<void> learn(const Step& step, const std::vector<ring::PartitionTenure>& tenures);
  Result<void> decide(const Step& step, const PartitionManager::Changes& changes);
  Result<void> take_over(const Step& step, bool may_take);
  Result<void> transfer(const Step& step, const std::function<bool(ring::Partition)>& stays);
  bool ready_to_move(ring::Partition partition, ring::TransferKind kind,
                     const std::function<bool(ring::Partition)>& stays);
  void note_pause(const Step& step);
  void acknowledge_copied(const Step& step);
  void send(const Step& step, const ring::PeerId& to, const std::vector<ring::PartitionTenure>& tenures) const;

  const PeerState* state_;
  const Members* members_;
  const Messenger* messenger_;
  Replication* replication_;
  Workbench* bench_;
  RecordWriter* writer_;
  std::deque<Unanswered> unanswered_;
  std::map<ring::Partition, SafeFrom> safe_from_;
  bool paused_ = false;
  Time next_compare_{};  // no table of tenures is sent before
};

}  // namespace orbweaver
