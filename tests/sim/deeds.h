// What deeds of the ring cost whole peers: it forms, one is started again, one joins, one leaves, one dies, all are
// started again. On a simulated clock and network, with stores that hold a small crawl. Bytes and messages depend on
// the arguments only; the time of a step is processor time of this machine, and differs from run to run. Thread rule:
// one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "node/base.h"

namespace orbweaver::sim {

struct Deed {
  std::string name;
  double seconds = 0;  // simulated, in which it was watched
  // Of the whole ring, above what a quiet ring sends in that time.
  double messages = 0;
  double bytes = 0;
  std::string most;  // the kind of message with most bytes, and these
  // The longest step of a peer, in processor time, and what it was.
  double longest_step_millis = 0;
  std::string longest_step;
  double cpu_seconds = 0;  // of all steps
};

struct DeedOptions {
  std::size_t peers = 10;
  std::uint32_t partitions = 1024;
  std::uint64_t seed = 1;
  bool restart_only = false;  // forms, and starts one peer again
  bool formed = false;        // the ring has formed earlier, and was stopped: all start, and then the other deeds
};

// Calls `report` after each deed. The value: how the run failed.
std::optional<std::string> measure_deeds(const DeedOptions& options, const std::function<void(const Deed&)>& report);

}  // namespace orbweaver::sim
