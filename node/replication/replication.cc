#include "node/replication/replication.h"

#include <algorithm>

namespace orbweaver {

namespace {

// A batch of links is acknowledged after its copies, so copies do not wait long for others to go with them.
constexpr Duration max_copy_age = std::chrono::milliseconds{5};

BatchLimits batch_limits(const Settings& s) {
  return {.max_records = s.max_batch_records,
          .max_bytes = static_cast<std::size_t>(s.max_batch_bytes),
          .max_in_flight = s.max_batches_in_flight,
          .timeout = s.batch_timeout};
}

// A quarter of their share is for foreign links, a quarter for copies, and half for what the transport has to send.
OutboxSender::Config outbox_config(const Settings& s, const MemoryPlan& memory) {
  return {.batch = batch_limits(s),
          .age = s.max_batch_age,
          .memory_records = s.max_outbox_records_in_memory,
          .memory_bytes = memory.messages_out / 4};
}

Replicator::Config replicator_config(const Settings& s, const MemoryPlan& memory) {
  return {.batch = batch_limits(s),
          .age = std::min(s.max_batch_age, max_copy_age),
          .max_items = std::max<std::size_t>(s.max_outbox_records_in_memory, 1),
          .max_bytes = memory.messages_out / 8};  // and as much for outcomes
}

PartitionManager::Config partition_manager_config(const PeerState& state) {
  const Settings& s = state.settings;
  PartitionManager::Config config;
  config.transfers.leaves_from = state.recovery_steps.leaves_from;
  config.transfers.roots_a_message = state.recovery_steps.partitions;
  config.transfers.batch = batch_limits(s);
  config.unknown_wait = s.suspicion_time;
  config.plan_slice = 4 * state.recovery_steps.partitions;
  return config;
}

}  // namespace

Replication::Replication(const PeerState& state)
    : outbox(outbox_config(state.settings, state.memory), *state.store, dependents, RisingNumber(state.life)),
      replicator(replicator_config(state.settings, state.memory), dependents),
      partition_manager(partition_manager_config(state), state.id, state.settings.partitions, *state.store,
                        copied_until) {}

Dependents::Id Replication::begin_sitemaps(ring::Partition partition) {
  Dependents::Id& id = named_sitemaps[partition];
  if (dependents.waits(id)) {
    dependents.wait(id);
  } else {
    id = dependents.begin(Dependents::Kind::sitemaps);
  }
  return id;
}

}  // namespace orbweaver
