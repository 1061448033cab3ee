// "What do you have of the partitions that I hold?" A peer that has started again, or has taken over, asks all members
// that it can reach before it fetches (docs/decisions/0026-after-a-restart.md, point 4). The question names no
// partition: both sides know from the tenures which they are, and compare the sum of these. The answer names those of
// which the other peer has records, with their roots: of most it has none. So a question costs the same for one
// partition as for ten thousand (docs/decisions/0030-compare-by-ranges.md).
//
// Partitions that began to wait together make a round. A question serves all rounds that are open when it is sent.
// Pure. Bounds: max_unanswered questions at a time. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/base.h"
#include "ring/messages.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class RecordAsks {
 public:
  using Round = std::uint64_t;  // 0: none
  static constexpr std::size_t max_unanswered = 64;

  // `timeout`: after it an unanswered question is asked again.
  explicit RecordAsks(Duration timeout) : timeout_(timeout) {}

  // `peers` are asked. `news`: tenures that they may not know yet.
  Round begin(const std::vector<ring::PeerId>& peers, Time now, const std::vector<ring::PartitionTenure>& news);
  // The partition waits for the round, which may have ended already.
  void add(Round round, ring::Partition partition);
  bool open(Round round) const { return rounds_.contains(round); }
  bool any_open() const { return !rounds_.empty(); }
  // Partitions whose round has ended since the last call.
  std::vector<ring::Partition> take_ended() { return std::exchange(ended_, {}); }
  // By peer, the partitions that wait for it.
  std::map<ring::PeerId, std::vector<ring::Partition>> awaited() const;

  // Questions that are due. `self`: this peer's record, `sum`: Tenures::sum_held_by() it.
  struct Out {
    ring::PeerId to;
    ring::AskRecords question;
  };
  std::vector<Out> tick(Time now, std::uint64_t sum, const std::function<std::uint64_t()>& new_sequence);
  // True: it answers the last question to the peer, and is no "not now". The caller takes the roots, then says done().
  bool hear(const ring::PeerId& from, const ring::RecordsKnown& answer, Time now);
  // The peer, which has just answered, is still awaited for the partitions of the round.
  bool awaits(Round round, const ring::PeerId& peer) const;
  // The peer has answered all rounds that were open when it was asked.
  void done(const ring::PeerId& peer);

  // Peers that cannot be reached have nothing to say.
  void forget_unless(const std::function<bool(const ring::PeerId&)>& reachable);
  // Gives up the peers of rounds that began `wait` ago: the partitions that waited for them, by peer.
  std::vector<std::pair<ring::PeerId, std::vector<ring::Partition>>> give_up(Time now, Duration wait);
  std::optional<Time> next_deadline() const { return due_; }
  ring::TableSizes tables() const;

 private:
  struct Waiting {
    std::set<ring::PeerId> awaited;
    Time began{};
    std::vector<ring::PartitionTenure> news;
    std::vector<ring::Partition> partitions;
  };
  struct Question {
    std::uint64_t sequence = 0;  // 0: not asked yet
    Round upto = 0;              // the last round that it serves
    Time due{};                  // when it is asked, or asked again
    Duration patience{};
  };
  void end_if_complete(Round round);
  void stop_asking_where_done();
  bool wanted(const ring::PeerId& peer) const;

  Duration timeout_;
  Round last_ = 0;
  std::map<Round, Waiting> rounds_;
  std::map<ring::PeerId, Question> asked_;  // at most max_unanswered
  std::deque<ring::PeerId> to_ask_;
  std::vector<ring::Partition> ended_;
  std::optional<Time> due_;
};

}  // namespace orbweaver
