// The ledger of a ring: what it has discovered is accounted for, URL by URL, and what is on its way between peers is
// shown beside it. Made from the ring's answer to "status". A difference is an error. Pure. Thread rule: a value.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace orbweaver {

struct Ledger {
  // Of the partitions' holders: every URL is counted once, however many copies there are.
  std::uint64_t discovered = 0;  // rows, counted as they come and go
  std::uint64_t fetched = 0;     // from here on by state
  std::uint64_t failed = 0;
  std::uint64_t excluded = 0;
  std::uint64_t waiting = 0;    // queued and not asked for now
  std::uint64_t in_flight = 0;  // queued and being fetched
  // On the way between peers; their receivers may know some of them already.
  std::uint64_t links_on_the_way = 0;   // in outboxes, not acknowledged
  std::uint64_t copies_on_the_way = 0;  // writes whose other copy is not acknowledged
  std::uint64_t partitions_held = 0;
  std::uint64_t partitions = 0;
  bool settled = false;                  // every peer answered, and all know the same holders: differences are errors
  std::vector<std::string> unsettled;    // why not
  std::vector<std::string> differences;  // what does not balance
};

// `status`: the answer of a ring to the question "status" (node/peer/peer_status.cc).
Ledger ledger_of(const nlohmann::json& status);
nlohmann::json to_json(const Ledger& ledger);
std::string to_text(const Ledger& ledger);

}  // namespace orbweaver
