// A running peer's memory: its plan, the shares that count themselves, and the values for `status` and the metrics.
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

// Refuses a Bloom filter or a table of scores that the settings plan but the machine has too little memory for now.
Result<void> check_large_tables(const Settings& settings);

class PeerMemory {
 public:
  // Plans by max_memory, or by the memory of the machine and its control groups. Adapts the settings to the plan; the
  // log shows which ones.
  explicit PeerMemory(LoadedSettings& settings);

  const MemoryPlan& plan() const { return plan_; }
  // "bodies", "decoded" and "links"; the other shares get their bounds from plan().
  const std::shared_ptr<MemoryShare>& share(std::string_view name) const { return shares_.at(name); }
  // The use of all shares. `used`: the use of the shares that do not count themselves; memory in no share is `base`.
  MemoryUse look(std::map<std::string_view, std::uint64_t> used);

 private:
  MemoryPlan plan_;
  std::map<std::string_view, std::shared_ptr<MemoryShare>> shares_;
  std::map<std::string_view, std::uint64_t> peaks_;
};

}  // namespace orbweaver
