// How transfers send: batches of records and hosts' rows, and what becomes of their answers.
#include <algorithm>

#include "node/errors/storage_error.h"
#include "node/replication/transfers.h"

namespace orbweaver {

namespace {

// Longer than any delay between two requests to a host.
constexpr Duration max_unsure = std::chrono::hours{1};
// Rows of a partition's hosts that are read at a time.
constexpr std::size_t host_rows = 256;
// Times that a hand-off is compared again because of what came in meanwhile.
constexpr std::uint32_t max_passes = 3;

}  // namespace

Result<void> Transfers::fill_batch(Time now, const World& world, ring::Partition partition, State& state,
                                   std::vector<ring::BatchRecord>& records, std::size_t& bytes) {
  const auto room = [&] { return config_.batch.has_room(records.size(), bytes); };
  const auto add = [&](std::string record) {
    bytes += record.size();
    records.push_back({partition, std::move(record)});
  };
  while (!state.records_done && room()) {
    const std::size_t limit = config_.batch.max_records - records.size();
    auto found = store_->scan(partition, state.cursor ? &*state.cursor : nullptr, limit);
    if (!found) return tl::make_unexpected(error_of(found.error()));
    state.records_done = found->size() < limit;
    for (storage::Merge& merge : *found) {
      if (!room()) {
        state.records_done = false;
        break;
      }
      state.cursor = merge.key;
      if (!state.differ.empty() && state.differ[storage::leaf_of(merge.key.url)] == 0) continue;
      const Outcome outcome = state.kind == ring::TransferKind::hand_off ? Outcome::leaves : world.outcome(merge);
      if (outcome != Outcome::leaves) merge.record = storage::before_fetch(std::move(merge.record));
      state.in_part = state.in_part || outcome == Outcome::next_fill;
      std::string record;
      storage::encode_record(merge.record, record);
      add(std::move(record));
    }
  }
  if (state.kind == ring::TransferKind::hand_off && state.records_done && !state.last_access_unknown_sent) {
    state.last_access_unknown_sent = true;
    if (const Time since = world.last_access_unknown_since(partition); now - since < max_unsure) {
      std::string record;
      storage::encode_last_access_unknown(since, now, record);
      add(std::move(record));
    }
  }
  while (state.records_done && !state.hosts_done && room()) {
    auto rows = store_->hosts_of(partition, state.hosts_cursor, host_rows);
    if (!rows) return tl::make_unexpected(error_of(rows.error()));
    state.hosts_done = rows->size() < host_rows;
    for (const storage::HostRow& row : *rows) {
      if (!room()) {
        state.hosts_done = false;
        break;
      }
      state.hosts_cursor = row.row;
      std::string record;
      if (row.clock && (row.clock->until(now) > now || row.clock->failures > 0 || row.clock->pace > Duration{} ||
                        row.clock->used())) {
        storage::encode_wait(*row.clock, now, record);
      } else if (row.robots && row.robots->expires > now && state.kind == ring::TransferKind::hand_off) {
        // Else it might get there before the sitemaps that it names.
        storage::encode_robots(row.origin, *row.robots, now, record);
      } else if (row.cookies && row.cookies->expires > now) {
        storage::encode_cookies(*row.cookies, record);
      } else if (row.use) {
        storage::encode_use(*row.use, record);
      }
      if (!record.empty()) add(std::move(record));
    }
  }
  return {};
}

// Sends the next batch. False: there is nothing to send.
Result<bool> Transfers::send_one(const Turn& turn) {
  const ring::PeerId& to = turn.to;
  ring::Batch batch{.ring_fingerprint = turn.world.fingerprint, .kind = ring::BatchKind::transfer};
  std::vector<ring::BatchRecord> records;
  Partitions partitions;
  std::size_t bytes = 0;
  std::vector<Task> over;  // ended: nothing to send and nothing to complete
  const std::set<Place>& places = turn.target.places;
  for (auto at = places.lower_bound({.next = Next::send}); at != places.end() && at->next == Next::send;) {
    if (!config_.batch.has_room(records.size(), bytes)) break;
    const ring::Partition partition = (at++)->partition;
    State& state = tasks_.at({to, partition});
    const std::size_t before = records.size();
    if (Result<void> filled = fill_batch(turn.now, turn.world, partition, state, records, bytes); !filled)
      return tl::make_unexpected(filled.error());
    const bool completes = returns(state.kind) && state.all_sent() && state.in_flight == 0;
    if (completes) {
      batch.complete.push_back(partition);
      state.complete_sent = true;
    }
    if (records.size() > before || completes) {
      partitions.insert(partition);
      batch.tenures.push_back({partition, turn.world.tenures.of(partition)});
      ++state.in_flight;
    } else if (state.all_sent() && state.in_flight == 0) {
      over.push_back({to, partition});
    }
    list(turn.target, partition, state, state.active());
  }
  for (const Task& task : over) finish(task);
  if (partitions.empty()) return false;
  batch.sequence = turn.world.new_sequence();
  records_sent_ += records.size();
  bytes_sent_ += bytes;
  batch.records = std::move(records);
  turn.out.push_back({to, turn.target.window.add(turn.now, std::move(batch), std::move(partitions))});
  return true;
}

// All of it was sent. What came in since it was compared goes too, but not for ever: links may come all the time.
void Transfers::finish(const Task& task) {
  State& state = tasks_.at(task);
  if (state.kind == ring::TransferKind::hand_off && state.root != store_->root(task.partition) &&
      state.passes < max_passes) {
    restart(task, state, ticked_, Stage::getting_ready);
  } else {
    end(task, false);
  }
}

Result<void> Transfers::send(const Turn& turn) {
  while (turn.target.window.open(turn.now)) {
    const Result<bool> sent = send_one(turn);
    if (!sent) return tl::make_unexpected(sent.error());
    if (!*sent) break;
  }
  return {};
}

// ---- answers ----

bool Transfers::acknowledged(const ring::PeerId& from, std::uint64_t sequence) {
  const auto target = targets_.find(from);
  if (target == targets_.end()) return false;
  const auto batch = target->second.window.acknowledged(sequence);
  if (!batch) return false;
  note_news(from, target->second);
  for (const ring::Partition partition : batch->content) {
    const auto task = tasks_.find({from, partition});
    if (task == tasks_.end()) continue;
    State& state = task->second;
    --state.in_flight;
    list(target->second, partition, state, state.active());
    if (!state.all_sent() || state.in_flight > 0) continue;
    if (returns(state.kind) && !state.complete_sent) continue;
    finish(Task(task->first));
  }
  return true;
}

bool Transfers::refused(const ring::PeerId& from, std::uint64_t sequence, Time now) {
  const auto target = targets_.find(from);
  if (target == targets_.end()) return false;
  const auto batch = target->second.window.refused(sequence, now);
  if (!batch) return false;
  for (const ring::Partition partition : batch->content)
    if (const auto task = tasks_.find({from, partition}); task != tasks_.end())
      restart(task->first, task->second, now + ring::refusal_wait);
  return true;
}

bool Transfers::pushed_back(const ring::PeerId& from, std::uint64_t sequence, Time now) {
  const auto target = targets_.find(from);
  if (target == targets_.end() || !target->second.window.pushed_back(sequence, now)) return false;
  note_news(from, target->second);
  return true;
}

}  // namespace orbweaver
