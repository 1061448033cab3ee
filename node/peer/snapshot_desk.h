// This peer's part in a snapshot of the ring (docs/decisions/0029-snapshot.md). A command asks all peers, in phases:
//
//   hold  from now on nothing that has travelled away is removed: no acknowledged link leaves the outbox, no copy is
//         dropped. And no page's outcome is taken from another peer: its links may be on disks that are saved already.
//         All peers hold before any of them saves.
//   save  a checkpoint of the store is made. With it the peer's hold ends.
//   look  how far is it? Once the checkpoint's files are listed, the answer has them, with their digests.
//   end   nothing more is wanted: the hold ends, and the snapshot is forgotten. Its files stay.
//
// A hold ends by itself after max_hold; then the snapshot has failed here. One snapshot at a time. Bounded: one
// listing, and max_waiting_bytes of batches; what does not fit is sent again.
// Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/crawl/peer_state.h"
#include "node/crawl/step.h"
#include "node/replication/members.h"
#include "node/replication/partition_manager.h"

namespace orbweaver {

class SnapshotDesk {
 public:
  // Longer than any checkpoint takes: hard links, and a copy of the store's journal.
  static constexpr Duration max_hold = std::chrono::seconds{60};
  static constexpr std::size_t max_waiting_bytes = 16u << 20;

  // All outlive it.
  SnapshotDesk(const PeerState& state, const Members& members, PartitionManager& partitions)
      : state_(&state), members_(&members), partitions_(&partitions) {}

  // To {"phase": p, "snapshot": 32 hex digits}: {"state": s, …}, or {"error": why}.
  nlohmann::json answer(const Step& step, const nlohmann::json& body);
  // True: it is a batch that may bring outcomes, and it waits until the hold is over.
  bool keep_back(const MessageEvent& event);
  // Batches that have waited; none while this peer holds.
  std::vector<MessageEvent> take_waiting();

  void hear(const Step& step, const CheckpointMade& made);
  void hear(const Step& step, const CheckpointListed& listed);
  void tick(const Step& step);
  std::optional<Time> next_deadline() const;
  std::size_t waiting() const { return waiting_.size(); }

 private:
  enum class State : std::uint8_t { none, held, saving, saved, listed, failed };
  nlohmann::json hold(const Step& step, const std::string& snapshot);
  nlohmann::json save(const Step& step, const std::string& snapshot);
  nlohmann::json look(const std::string& snapshot) const;
  nlohmann::json end(const std::string& snapshot);
  void become(State state);
  void give_up(const Step& step, std::string why);
  bool holds() const { return state_now_ == State::held || state_now_ == State::saving; }

  const PeerState* state_;
  const Members* members_;
  PartitionManager* partitions_;
  State state_now_ = State::none;
  std::string snapshot_;
  Time until_{};              // of the hold
  std::string failure_;       // when failed
  std::string listing_;       // when listed: JSON
  storage::Counts counts_{};  // when saved
  std::vector<MessageEvent> waiting_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace orbweaver
