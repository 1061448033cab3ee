// Which member records are still to be piggybacked, and how often each was sent (SWIM, section 4.1). The least often
// sent goes first, and among equals the newest. Pure. One record per member, so it is bounded by the number of members.
// Thread rule: one owner (Membership).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "ring/types.h"

namespace orbweaver::ring {

class GossipQueue {
 public:
  // There is news of this member: its count of sends starts again from zero.
  void add(const PeerId& id);
  void remove(const PeerId& id);
  // The members to piggyback on one message, at most `count`, without `skip`. Each is counted as sent, and dropped
  // after `max_sends` times.
  std::vector<PeerId> take(std::size_t count, std::uint32_t max_sends, const PeerId& skip);
  bool empty() const { return order_.empty(); }
  std::size_t size() const { return order_.size(); }

 private:
  using Key = std::tuple<std::uint32_t, std::uint64_t, PeerId>;  // times sent; age (larger: older news); member
  std::set<Key> order_;
  std::map<PeerId, Key> key_of_;
  std::uint64_t next_age_ = UINT64_MAX;  // counts down
};

}  // namespace orbweaver::ring
