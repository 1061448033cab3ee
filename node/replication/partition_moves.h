// Partitions that change hands: how tenures are learned, decided and sent; what must be safe before a partition goes;
// when batches are acknowledged, once what they brought has its copies. The rules are in the partition manager
// (partition_manager.h); here they meet the disk and the other peers. Thread rule: one owner (the peer's loop).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/replication/messenger.h"
#include "node/replication/record_writer.h"
#include "ring/table_sizes.h"

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

  // Another peer's report of tenures. `asked`: it answers a question of this peer.
  Result<void> hear(const Step& step, const std::vector<ring::PartitionTenure>& tenures, bool asked = false);
  // The other peer may know other tenures: their ranges are compared, no more often than compare_every.
  void compare(const Step& step, const ring::PeerId& from, std::uint64_t fingerprint);
  // Another peer's table of tenures. `confirmed`: this peer may act on its own.
  void hear(const Step& step, const ring::PeerId& from, const ring::CompareTenures& question,
            const ring::ReplyPath& reply, bool confirmed);
  // `asked`: it answers a question that wanted a fresh answer.
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::TenuresCompared& answer, bool asked);
  // What another peer has of this peer's partitions, and the other way round.
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::AskRecords& ask,
                    const ring::ReplyPath& reply);
  void hear(const Step& step, const ring::PeerId& from, const ring::RecordsKnown& known);

  // Acknowledges a batch once `dependent` waits for nothing more, because its sender then forgets what it sent. Closes
  // the dependent.
  void acknowledge(const Step& step, const ring::ReplyPath& reply, const ring::PeerId& from, const ring::Batch& batch,
                   Dependents::Id dependent);
  bool acknowledges_later() const { return !unanswered_.empty(); }

  // Another peer has taken a batch of this peer, or refuses it: links, copies, or a part of a partition.
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::BatchAck& taken);
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::BatchRefused& refused);
  // Another peer's roots and leaves, of copies that are compared.
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::Roots& roots, const ring::ReplyPath& reply);
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::RootsCompared& compared);
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::Leaves& leaves,
                    const ring::ReplyPath& reply);

  // `confirmed`: this peer may act on its tenures.
  Result<void> note_copied(const Step& step, bool confirmed);
  // `may_take`: partitions whose holder is gone may be taken over. `stays`: a partition does not move yet, for a reason
  // that is not known here.
  Result<void> tick(const Step& step, bool may_take, const std::function<bool(ring::Partition)>& stays);
  // Partitions that became fetchable, or stopped being so, since the last call.
  std::vector<ring::Partition> take_changed() { return std::exchange(changed_, {}); }
  ring::TableSizes tables() const;

 private:
  struct Unanswered {
    ring::ReplyPath reply;
    ring::PeerId from;
    std::uint64_t sequence = 0;
    std::uint64_t ring = 0;  // fingerprint of the sender's
  };

  // What another peer may drop was written here before it asked. Its copies have it once the outcomes that waited then
  // are items, and those items are acknowledged.
  struct MayDrop {
    std::uint64_t root = 0;
    Dependents::Id outcomes = 0;
    std::optional<std::uint64_t> items;
  };

  Result<void> learn(const Step& step, const std::vector<ring::PartitionTenure>& tenures);
  Result<void> decide(const Step& step, const PartitionManager::Changes& changes);
  Result<void> take_over(const Step& step, bool may_take);
  Result<void> transfer(const Step& step, const std::function<bool(ring::Partition)>& stays);
  bool ready_to_move(ring::Partition partition, ring::TransferKind kind,
                     const std::function<bool(ring::Partition)>& stays);
  bool may_move(ring::Partition partition) const;
  bool copies_have(const ring::PeerId& from, const ring::PartitionDigest& asked);
  void note_pause(const Step& step);
  void forget_oldest(const ring::PeerId& from);
  void acknowledge_copied(const Step& step);
  // Of one sender: links and transfers are limited separately.
  std::size_t max_unanswered() const { return 2 * std::size_t{state_->settings.max_batches_in_flight}; }
  Result<void> take_kept(const Step& step);
  Result<void> keep_links(const Step& step, storage::Commit& commit);
  void send(const Step& step, const ring::PeerId& to, const std::vector<ring::PartitionTenure>& tenures) const;
  void compare_now(const Step& step, const ring::PeerId& with);
  ring::CompareTenures question(std::uint64_t nonce) const;

  const PeerState* state_;
  const Members* members_;
  const Messenger* messenger_;
  Replication* replication_;
  Workbench* bench_;
  RecordWriter* writer_;
  std::map<Dependents::Id, Unanswered> unanswered_;  // of each sender the last ones, at most max_unanswered()
  std::map<std::pair<ring::PeerId, std::uint64_t>, Dependents::Id> of_batch_;  // of these, by sender and sequence
  // Up to which copy all must be safe before a partition that is to move may go; noted when its last outcome had left.
  std::map<ring::Partition, std::uint64_t> safe_from_;
  std::map<std::pair<ring::PeerId, ring::Partition>, MayDrop> may_drop_;
  std::vector<ring::Partition> changed_;
  std::set<std::pair<ring::PeerId, std::uint64_t>> kept_;  // acknowledgements of links, while all is kept
  bool paused_ = false;
  Time next_compare_{};  // no table of tenures is sent before this
};

}  // namespace orbweaver
