#include "node/crawl/replication.h"

#include <algorithm>

namespace orbweaver {

namespace {

// A forwarder's batch is acknowledged after its copies: they do not wait long for company.
constexpr Duration copy_age_max = std::chrono::milliseconds{5};

// A quarter of their share is for foreign links, a quarter for copies, and half for what the transport has to send.
Forwarder::Config forwarder_config(const Settings& s, const MemoryPlan& memory) {
  return {s.batch_records,
          static_cast<std::size_t>(s.batch_bytes),
          s.batch_age,
          s.batches_under_way,
          s.batch_timeout,
          s.outbox_memory_records,
          memory.messages_out / 4};
}

Copier::Config copier_config(const Settings& s, const MemoryPlan& memory) {
  Copier::Config config;
  config.bytes_max = memory.messages_out / 8;  // and as much for outcomes
  config.batch_records = s.batch_records;
  config.batch_bytes = static_cast<std::size_t>(s.batch_bytes);
  config.age = std::min(s.batch_age, copy_age_max);
  config.under_way_max = s.batches_under_way;
  config.timeout = s.batch_timeout;
  config.items_max = std::max<std::size_t>(s.outbox_memory_records, 1);
  return config;
}

}  // namespace

Keeper::Config Replication::keeper_config(const Settings& s) {
  Keeper::Config config;
  config.transfers.batch_records = s.batch_records;
  config.transfers.batch_bytes = static_cast<std::size_t>(s.batch_bytes);
  config.transfers.under_way_max = s.batches_under_way;
  config.transfers.timeout = s.batch_timeout;
  config.unknown_wait = s.suspicion_time;
  return config;
}

Replication::Replication(const PeerState& state, std::uint64_t first_sequence)
    : forwarder(forwarder_config(state.settings, state.memory), *state.store, first_sequence),
      copier(copier_config(state.settings, state.memory)),
      keeper(keeper_config(state.settings), state.id, state.settings.partitions, *state.store) {}

}  // namespace orbweaver
