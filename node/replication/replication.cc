#include "node/replication/replication.h"

#include <algorithm>

namespace orbweaver {

namespace {

// A batch of links is acknowledged after its copies: they do not wait long for company.
constexpr Duration copy_age_max = std::chrono::milliseconds{5};

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
          .age = std::min(s.max_batch_age, copy_age_max),
          .items_max = std::max<std::size_t>(s.max_outbox_records_in_memory, 1),
          .bytes_max = memory.messages_out / 8};  // and as much for outcomes
}

PartitionManager::Config partition_manager_config(const Settings& s) {
  PartitionManager::Config config;
  config.transfers.batch = batch_limits(s);
  config.unknown_wait = s.suspicion_time;
  return config;
}

}  // namespace

Replication::Replication(const PeerState& state, std::uint64_t first_sequence)
    : outbox(outbox_config(state.settings, state.memory), *state.store, first_sequence),
      replicator(replicator_config(state.settings, state.memory)),
      partition_manager(partition_manager_config(state.settings), state.id, state.settings.partitions, *state.store) {}

}  // namespace orbweaver
