#include "node/settings/memory_plan.h"

#include <algorithm>

#include "node/settings/units.h"

namespace orbweaver {
namespace {

constexpr std::uint64_t max_automatic = std::uint64_t{4} << 30;
constexpr std::uint64_t write_buffers_most = std::uint64_t{64} << 20;

}  // namespace

std::uint64_t automatic_memory(std::uint64_t machine, std::uint64_t peers) {
  return std::clamp(machine / 2 / std::max<std::uint64_t>(peers, 1), max_memory_least, max_automatic);
}

std::uint64_t decode_small_of(std::uint64_t bound, std::uint64_t workers) {
  return std::min(max_decode_small, bound / (2 * std::max<std::uint64_t>(workers, 1)));
}

std::uint64_t decode_large_of(std::uint64_t bound, std::uint64_t workers) {
  return bound - workers * decode_small_of(bound, workers);
}

std::uint64_t write_buffer_bytes(const MemoryPlan& plan) { return std::min(plan.storage / 4, write_buffers_most); }

std::array<std::pair<std::string_view, std::uint64_t>, 12> MemoryPlan::shares() const {
  return {{{"bodies", bodies},
           {"decoded", decoded},
           {"links", links},
           {"robots", robots},
           {"messages_in", messages_in},
           {"messages_out", messages_out},
           {"link_cache", link_cache},
           {"seen_sets", seen_sets},
           {"frontier", frontier},
           {"waiting_hosts", waiting_hosts},
           {"storage", storage},
           {"base", base}}};
}

MemoryPlan plan_memory(const Settings& settings, std::uint64_t machine) {
  MemoryPlan plan;
  plan.total = settings.max_memory > 0 ? settings.max_memory : automatic_memory(machine, 1);
  const auto share = [&](std::uint64_t per_cent) { return plan.total / 100 * per_cent; };
  plan.bodies = share(20);
  plan.decoded = share(14);
  plan.links = share(5);
  plan.robots = share(5);
  plan.messages_in = share(6);
  plan.messages_out = share(6);
  plan.link_cache = share(1);
  plan.seen_sets = share(10);
  plan.frontier = share(6);
  plan.waiting_hosts = share(4);
  plan.storage = share(16);
  plan.base = plan.total - plan.bodies - plan.decoded - plan.links - plan.robots - plan.messages_in -
              plan.messages_out - plan.link_cache - plan.seen_sets - plan.frontier - plan.waiting_hosts - plan.storage;
  return plan;
}

std::vector<std::string> fit_settings(Settings& settings, const std::map<std::string, std::string>& given,
                                      const MemoryPlan& plan) {
  std::vector<std::string> warnings;
  const auto fit = [&](const char* name, auto& value, std::uint64_t most, bool bytes) {
    if (value <= most) return;
    const auto text = [&](std::uint64_t number) { return bytes ? size_text(number) : std::to_string(number); };
    warnings.push_back(std::string(name) + " is " + text(value) + "; of max_memory (" + size_text(plan.total) +
                       ") it has room for " + text(most));
    value = static_cast<std::remove_reference_t<decltype(value)>>(most);
  };
  const std::uint64_t large = decode_large_of(plan.decoded, std::max<std::uint64_t>(settings.workers, 1));
  if (!given.contains("max_body_memory")) settings.max_body_memory = plan.bodies;
  if (!given.contains("max_storage_memory")) settings.max_storage_memory = plan.storage - write_buffer_bytes(plan);
  fit("max_body_memory", settings.max_body_memory, plan.bodies, true);
  fit("max_body_bytes", settings.max_body_bytes, std::min(plan.bodies, large) / 2, true);
  fit("max_decoded_bytes", settings.max_decoded_bytes, large / 2, true);
  fit("max_link_bytes", settings.max_link_bytes, plan.links / 2, true);
  fit("max_link_cache_entries", settings.max_link_cache_entries, plan.link_cache / cached_link_bytes, false);
  fit("max_hosts_in_memory", settings.max_hosts_in_memory, plan.frontier / host_bytes, false);
  fit("max_storage_memory", settings.max_storage_memory, plan.storage - write_buffer_bytes(plan), true);
  return warnings;
}

}  // namespace orbweaver
