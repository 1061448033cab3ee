#include "node/settings/descriptor_plan.h"

#include <algorithm>

namespace orbweaver {
namespace {

constexpr std::uint32_t max_kept_connections = 4096;
constexpr std::uint64_t reserve = open_files_least;
constexpr std::uint64_t a_member = 3;
constexpr std::uint64_t an_unknown = 2;
constexpr std::uint64_t a_worker = 6;
constexpr std::uint64_t max_members = 4096;  // ring/messages.h
constexpr std::uint64_t members_min = 16;
constexpr std::uint64_t unknown_min = 8;
constexpr std::uint64_t limit_a_member = 16;    // one member per this many descriptors of the limit
constexpr std::uint64_t limit_an_unknown = 20;  // likewise

std::uint64_t for_fetches(std::uint64_t fetches) { return fetches + fetches / 4; }

struct Step {
  std::uint32_t DescriptorPlan::*what;
  std::uint32_t floor;
};

constexpr Step steps[] = {{&DescriptorPlan::kept_connections, 128}, {&DescriptorPlan::store_files, 128},
                          {&DescriptorPlan::max_fetches, 64},       {&DescriptorPlan::kept_connections, 0},
                          {&DescriptorPlan::store_files, 20},       {&DescriptorPlan::max_fetches, 4}};

}  // namespace

std::array<std::pair<std::string_view, std::uint64_t>, 7> DescriptorPlan::shares() const {
  return {{{"fetches", for_fetches(max_fetches)},
           {"kept_connections", kept_connections},
           {"store_files", store_files},
           {"unknown_connections", an_unknown * unknown_connections},
           {"members", a_member * members},
           {"workers", a_worker * workers},
           {"reserve", reserve}}};
}

std::uint64_t DescriptorPlan::sum() const {
  std::uint64_t sum = 0;
  for (const auto& [name, descriptors] : shares()) sum += descriptors;
  return sum;
}

DescriptorPlan plan_descriptors(const Settings& settings, std::uint64_t limit) {
  DescriptorPlan plan;
  plan.limit = limit;
  plan.max_fetches = settings.max_fetches;
  plan.workers = settings.workers + 1;  // one more reads the large ones (node/process/workers.h)
  // One for each host that is being crawled: reopening one for each page costs more than parsing the page.
  plan.kept_connections = std::clamp(settings.max_hosts_in_memory, plan.kept_connections, max_kept_connections);
  const auto share = [&](std::uint64_t each, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint32_t>(std::min(std::max(limit / each, least), most));
  };
  plan.members = share(limit_a_member, members_min, max_members);
  plan.unknown_connections = share(limit_an_unknown, unknown_min, settings.max_unknown_connections);
  for (const Step& step : steps) {
    std::uint32_t& value = plan.*step.what;
    while (plan.sum() > limit && value > step.floor) --value;
  }
  plan.fits = plan.sum() <= limit;
  return plan;
}

}  // namespace orbweaver
