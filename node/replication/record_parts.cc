#include "node/replication/record_parts.h"

#include <algorithm>

#include "node/frontier/fetch_verdict.h"

namespace orbweaver {

namespace {

Workbench::Config workbench_config(const Settings& s, const MemoryPlan& memory) {
  const std::uint64_t bytes = memory.frontier / std::max<std::uint64_t>(s.max_hosts_in_memory, 1);
  Workbench::Config config{s.max_hosts_in_memory, s.max_host_queue_in_memory};
  config.best_first = s.order == CrawlOrder::best;
  config.max_head_bytes = static_cast<std::size_t>(bytes - std::min<std::uint64_t>(bytes, Workbench::bare_host_bytes));
  config.max_waiting_bytes = static_cast<std::size_t>(memory.waiting_hosts);
  return config;
}

}  // namespace

RecordParts::RecordParts(const PeerState& state, const Members& members)
    : replication(state),
      bench(workbench_config(state.settings, state.memory), *state.store,
            [this](ring::Partition partition) { return replication.partition_manager.fetches(partition); }),
      writer(state, members, replication, bench) {
  bench.set_earliest([this, &state](ring::Partition partition, std::string_view host) {
    return std::max(state.restarted, replication.partition_manager.held_since(partition)) +
           state.sites.pacing(host).delay;
  });
  bench.set_longest([&state] { return state.stepped; },
                    [&state](std::uint8_t attempts) { return retry_wait(attempts, state.settings); });
}

}  // namespace orbweaver
