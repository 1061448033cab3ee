// What a peer is started with. Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/config/settings_table.h"
#include "node/crawl/peer_state.h"
#include "node/settings/memory_plan.h"
#include "node/settings/settings.h"
#include "ring/types.h"
#include "storage/types.h"

namespace orbweaver {

struct PeerStart {
  LoadedSettings settings;
  std::string address;      // at which others reach it
  ring::PeerId fresh_id;    // 128 random bits, used when the directory has no identity yet
  ring::RingId fresh_ring;  // 128 random bits, used when it makes a ring
  std::uint64_t random_seed = 0;
  std::vector<std::string> seeds;  // admitted once the ring has had wait_for_peers members
  std::size_t wait_for_peers = 1;
  std::optional<Time> recrawl;  // what ended before is queued again (docs/how-to/recrawl.md)
  MemoryPlan memory = plan_memory({}, std::uint64_t{2} << 30);  // its shares of the process's
  RecoverySteps recovery_steps;
  std::vector<storage::UrlKey> at_work;  // when the last process ended uncleanly (node/process/in_flight.h)
};

}  // namespace orbweaver
