// How the ring's costs grow with the number of peers, on a simulated clock and network. Two worlds: memberships and
// hash rings alone, for any number of peers; and whole peers that crawl a small web (world.h), for as many as fit in a
// machine. Thread rule: functions of their arguments; the same arguments give the same numbers.
//
// The memberships are driven as in node/peer/peer_ring.cc: a joiner asks one member, takes its view, and exchanges
// views with every member at once; a peer that leaves notifies every member.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver::sim {

struct Spread {
  double mean = 0;
  double largest = 0;
};

struct RingScale {
  std::size_t peers = 0;
  // A quiet ring, per peer.
  double gossip_bytes_a_second = 0;
  double gossip_messages_a_second = 0;
  // Time until every peer that is up has the same record of the peer that joined, left or crashed: over trials, in
  // seconds, and in rounds of probing.
  Spread join_seconds;
  Spread leave_seconds;
  Spread crash_seconds;       // from the crash: every peer has given its partitions to others
  Spread first_down_seconds;  // from the crash: the first peer has
  double join_rounds = 0;
  double leave_rounds = 0;
  double crash_rounds = 0;
  // All peers together, above what a quiet ring sends in that time.
  double join_bytes = 0;
  double leave_bytes = 0;
};

struct OwnersScale {
  std::size_t peers = 0;
  std::uint32_t partitions = 0;
  double largest_over_fair = 0;  // partitions of the peer that has most, over partitions / peers
  double smallest_over_fair = 0;
  Spread join_moved_over_least;       // partitions that change owner, over partitions / (peers + 1)
  Spread leave_moved_over_least;      // over the partitions that the leaver had
  std::uint64_t moved_elsewhere = 0;  // partitions that moved without need: neither to the joiner nor from the leaver
  double ring_build_millis = 0;       // of one peer, at a change of view; the only figure here in real time
};

struct CrawlScale {
  std::size_t peers = 0;
  std::uint64_t urls = 0;
  double seconds = 0;  // simulated
  // Per URL that any peer learned, by kind of message.
  double forward_messages_a_url = 0;  // batches and their answers
  double forward_bytes_a_url = 0;
  double wave_messages_a_second = 0;  // of the whole ring
  double gossip_bytes_a_second = 0;   // per peer
};

RingScale measure_ring(std::size_t peers, std::uint64_t seed, std::size_t trials);
OwnersScale measure_owners(std::size_t peers, std::uint32_t partitions, std::uint64_t seed, std::size_t trials);
// No value: the crawl failed, and `failure` says how.
std::optional<CrawlScale> measure_crawl(std::size_t peers, std::uint64_t seed, std::string& failure);

}  // namespace orbweaver::sim
