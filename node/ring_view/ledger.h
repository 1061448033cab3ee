// The ledger of a ring: it accounts for all discovered URLs, and shows separately what is in transit between peers.
// Made from the ring's answer to "status". A difference is an error. Pure. Thread rule: a value.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace orbweaver {

struct Ledger {
  // From the partitions' holders: every URL is counted once, however many copies exist.
  std::uint64_t discovered = 0;  // records, counted as they are added and removed
  std::uint64_t fetched = 0;     // from here on: counts by state
  std::uint64_t failed = 0;
  std::uint64_t excluded = 0;
  std::uint64_t waiting = 0;    // queued, but not in flight
  std::uint64_t in_flight = 0;  // queued and being fetched
  // In transit between peers; their receivers may have some of them already.
  std::uint64_t links_on_the_way = 0;   // in outboxes, not acknowledged
  std::uint64_t copies_on_the_way = 0;  // writes that are not acknowledged by their replica
  std::uint64_t partitions_held = 0;
  std::uint64_t partitions = 0;
  bool settled = false;                  // all peers answered and know the same holders: differences are errors
  std::vector<std::string> unsettled;    // why it is not settled
  std::vector<std::string> differences;  // the parts that do not balance
};

// `status`: a ring's answer to the question "status" (node/peer/peer_status.cc).
Ledger ledger_of(const nlohmann::json& status);
nlohmann::json to_json(const Ledger& ledger);
std::string to_text(const Ledger& ledger);

}  // namespace orbweaver
