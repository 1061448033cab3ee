#include "node/process/peer_memory.h"

#include <algorithm>

#include "node/config/settings_table.h"
#include "node/frontier/link_scores.h"
#include "node/process/log.h"
#include "node/system/memory_available.h"
#include "storage/seen_filter.h"

namespace orbweaver {

Result<void> check_large_tables(const Settings& settings) {
  if (settings.seen == SeenSet::bloom) {
    const storage::SeenFilter::Config filter = seen_filter_config(settings);
    const std::string what = "seen = bloom with seen_urls = " + std::to_string(settings.seen_urls) +
                             " and seen_false_positives = " + settings.seen_false_positives;
    if (Result<void> fits = check_memory(what, storage::SeenFilter::plan(filter).bytes(), memory_available()); !fits)
      return fits;
  }
  if (settings.order == CrawlOrder::best) {
    const std::string what = "order = best with max_score_entries = " + std::to_string(settings.max_score_entries);
    if (Result<void> fits = check_memory(what, LinkScores::bytes(settings.max_score_entries), memory_available());
        !fits)
      return fits;
  }
  return {};
}

PeerMemory::PeerMemory(LoadedSettings& settings) {
  const std::uint64_t machine = memory_of_machine();
  if (settings.values.max_memory == 0 && machine == 0)
    log(LogLevel::warning, "node", "the machine's memory cannot be determined; set max_memory");
  plan_ = plan_memory(settings.values, machine);
  for (const std::string& line : fit_settings(settings.values, settings.given, plan_))
    log(LogLevel::warning, "node", "a setting exceeds its share of memory", {{"setting", line}});
  log(LogLevel::info, "node", "memory", {{"max_memory", bytes_text(plan_.total)}, {"machine", bytes_text(machine)}});
  shares_ = {{"bodies", std::make_shared<MemoryShare>(settings.values.max_body_memory)},
             {"decoded", std::make_shared<MemoryShare>(plan_.decoded)},
             {"links", std::make_shared<MemoryShare>(plan_.links)}};
}

MemoryUse PeerMemory::look(std::map<std::string_view, std::uint64_t> used) {
  MemoryUse use;
  const ResidentMemory resident = resident_memory();
  use.resident = resident.now;
  use.resident_peak = resident.peak;
  for (const auto& [name, share] : shares_) used[name] = share->used();
  std::uint64_t all = 0;
  for (const auto& [name, bytes] : used) all += bytes;
  used["base"] = use.resident - std::min(use.resident, all);
  for (const auto& [name, bound] : plan_.shares()) {
    const auto share = shares_.find(name);
    const bool counts = share != shares_.end();
    std::uint64_t& peak = peaks_[name];
    peak = std::max({peak, used[name], counts ? share->second->peak() : 0});
    use.shares.push_back({name, counts ? share->second->bound() : bound, used[name], peak});
  }
  return use;
}

}  // namespace orbweaver
