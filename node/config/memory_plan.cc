#include "node/config/memory_plan.h"

#include <algorithm>

namespace orbweaver {
namespace {

constexpr std::uint64_t automatic_max = std::uint64_t{4} << 30;

}  // namespace

std::array<std::pair<std::string_view, std::uint64_t>, 11> MemoryPlan::shares() const {
  return {{{"bodies", bodies},
           {"decoded", decoded},
           {"links", links},
           {"robots", robots},
           {"messages_in", messages_in},
           {"messages_out", messages_out},
           {"link_cache", link_cache},
           {"seen_sets", seen_sets},
           {"frontier", frontier},
           {"storage", storage},
           {"base", base}}};
}

MemoryPlan plan_memory(const Settings& settings, std::uint64_t machine) {
  MemoryPlan plan;
  plan.total = settings.max_memory > 0 ? settings.max_memory : std::min(machine / 2, automatic_max);
  const auto share = [&](std::uint64_t per_cent) { return plan.total / 100 * per_cent; };
  plan.bodies = share(22);
  plan.decoded = share(14);
  plan.links = share(6);
  plan.robots = share(5);
  plan.messages_in = share(6);
  plan.messages_out = share(6);
  plan.link_cache = share(1);
  plan.seen_sets = share(10);
  plan.frontier = share(6);
  plan.storage = share(16);
  plan.base = plan.total - plan.bodies - plan.decoded - plan.links - plan.robots - plan.messages_in -
              plan.messages_out - plan.link_cache - plan.seen_sets - plan.frontier - plan.storage;
  return plan;
}

}  // namespace orbweaver
