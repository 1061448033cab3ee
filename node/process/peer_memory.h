// A running peer's memory: its plan, the shares that count by themselves, and what `status` and the metrics show.
// Thread rule: the loop's thread; the shares themselves any.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/config/settings_table.h"
#include "node/memory/memory_share.h"
#include "node/settings/memory_plan.h"
#include "node/settings/settings.h"

namespace orbweaver {

// Refuses a Bloom filter or a table of scores, as the settings plan them, that the machine has no memory for now.
Result<void> check_large_tables(const Settings& settings);

class PeerMemory {
 public:
  // By max_memory, or by what the machine and the control groups have. The settings are made to fit; the log says
  // which.
  explicit PeerMemory(LoadedSettings& settings);

  const MemoryPlan& plan() const { return plan_; }
  // "bodies", "decoded" and "links"; others know their bounds by plan().
  const std::shared_ptr<MemoryShare>& share(std::string_view name) const { return shares_.at(name); }
  // Of all shares. `used`: those that the others' holders tell; what is in none is `base`.
  MemoryUse look(std::map<std::string_view, std::uint64_t> used);

 private:
  MemoryPlan plan_;
  std::map<std::string_view, std::shared_ptr<MemoryShare>> shares_;
  std::map<std::string_view, std::uint64_t> peaks_;
};

}  // namespace orbweaver
