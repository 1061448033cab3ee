#include "node/replication/transfers.h"

#include <algorithm>

#include "node/errors/storage_error.h"

namespace orbweaver {

namespace {

// Time between two checks whether a partition is ready, and after the answer "not now".
constexpr Duration ready_poll = std::chrono::milliseconds{20};
constexpr Duration later_wait = std::chrono::milliseconds{300};
// A question is asked again soon, for the first one to a peer that is back may be lost with a connection that a cut
// left behind; then after the timeout, after twice that, and so on up to a maximum.
constexpr Duration first_patience = std::chrono::seconds{1};
constexpr Duration max_patience = std::chrono::minutes{1};
// Longer than any delay between two requests to a host.
constexpr Duration max_unsure = std::chrono::hours{1};
// Questions to one peer that wait for an answer; the answer to an older one does not count.
constexpr std::size_t max_questions = 1024;
// Rows of a partition's hosts that are read at a time.
constexpr std::size_t host_rows = 256;

bool returns(ring::TransferKind kind) {
  return kind == ring::TransferKind::return_ || kind == ring::TransferKind::release;
}

}  // namespace

void Transfers::want(const Task& task, ring::TransferKind kind, const Extras& extras) {
  const auto [at, added] = tasks_.try_emplace(task);
  if (!added && at->second.kind == kind) {
    Extras& now = at->second.extras;
    const bool asks_more = (extras.give && !now.give) || (extras.hosts && !now.hosts);
    now.give = now.give || extras.give;
    now.hosts = now.hosts || extras.hosts;
    now.fill = now.fill || extras.fill;
    count_fill(at->second);
    // What is asked already has not asked for this.
    if (asks_more && at->second.stage > Stage::getting_ready) restart(task, at->second, Time{});
    return;
  }
  if (!added) cancel(task);
  State& state = tasks_[task];
  state.kind = kind;
  state.extras = extras;
  peers_of_[task.partition].insert(task.to);
  ++of_kind_[static_cast<std::size_t>(kind)];
  count_fill(state);
  news_ = true;
}

void Transfers::count_fill(State& state) {
  const bool fills =
      state.kind == ring::TransferKind::backfill && (state.extras.fill || state.stage > Stage::comparing);
  if (fills == state.counted) return;
  state.counted = fills;
  fills ? ++fills_ : --fills_;
}

void Transfers::set_stage(const Task& task, State& state, Stage stage) {
  state.stage = stage;
  count_fill(state);
  if (state.kind != ring::TransferKind::hand_off) return;
  if (stage == Stage::waiting) {
    if (frozen_.erase(task.partition) > 0) thawed_.push_back(task.partition);
  } else {
    frozen_.insert(task.partition);
  }
}

void Transfers::restart(const Task& task, State& state, Time not_before) {
  target_of(task.to).window.change_contents([&task](Partitions& waiting) { waiting.erase(task.partition); });
  const ring::TransferKind kind = state.kind;
  const Extras extras = state.extras;
  set_stage(task, state, Stage::waiting);
  const bool counted = state.counted;
  state = State{};
  state.kind = kind;
  state.extras = extras;
  state.counted = counted;
  state.since = not_before;
  news_ = true;
}

void Transfers::cancel(const Task& task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  restart(task, found->second, Time{});
  --of_kind_[static_cast<std::size_t>(found->second.kind)];
  if (found->second.counted) --fills_;
  const auto peers = peers_of_.find(task.partition);
  peers->second.erase(task.to);
  if (peers->second.empty()) peers_of_.erase(peers);
  tasks_.erase(found);
}

void Transfers::begin_anew(ring::Partition partition) {
  const auto peers = peers_of_.find(partition);
  if (peers == peers_of_.end()) return;
  for (const ring::PeerId& to : peers->second) restart({to, partition}, tasks_.at({to, partition}), Time{});
}

void Transfers::cancel_unless(ring::Partition partition,
                              const std::function<bool(const ring::PeerId&, ring::TransferKind)>& keep) {
  const auto peers = peers_of_.find(partition);
  if (peers == peers_of_.end()) return;
  std::vector<ring::PeerId> unneeded;
  for (const ring::PeerId& to : peers->second)
    if (!keep(to, tasks_.at({to, partition}).kind)) unneeded.push_back(to);
  for (const ring::PeerId& to : unneeded) cancel({to, partition});
}

void Transfers::cancel_all() {
  while (!tasks_.empty()) cancel(Task(tasks_.begin()->first));
}

void Transfers::end(const Task& task, bool agreed) {
  const State& state = tasks_.at(task);
  done_.push_back({.task = task, .kind = state.kind, .agreed = agreed, .in_part = state.in_part});
  cancel(task);
}

// Batches whose transfers were cancelled or begun again count as in flight until they are answered or are late.
void Transfers::forget_what_nobody_waits_for(Time now) {
  for (auto target = targets_.begin(); target != targets_.end();) {
    target->second.window.drop_late(now, [](const Partitions& waiting) { return waiting.empty(); });
    const auto task = tasks_.lower_bound({target->first, 0});
    const bool wanted = task != tasks_.end() && task->first.to == target->first;
    target = wanted || !target->second.window.empty() ? std::next(target) : targets_.erase(target);
  }
}

std::vector<Transfers::Done> Transfers::take_done() { return std::exchange(done_, {}); }

std::vector<ring::PeerId> Transfers::peers() const {
  std::vector<ring::PeerId> peers;
  for (auto at = tasks_.begin(); at != tasks_.end(); at = tasks_.upper_bound({peers.back(), UINT16_MAX}))
    peers.push_back(at->first.to);
  return peers;
}

// ---- what is due ----

Result<void> Transfers::tick(Time now, const World& world, std::vector<Out>& out) {
  if (!news_ && (!due_ || now < *due_)) return {};
  news_ = false;
  forget_what_nobody_waits_for(now);
  for (const ring::PeerId& to : peers()) {
    std::vector<BatchOut> again;
    // The batch's tenures stay as they were: what it completes is complete under these only.
    const auto refresh = [&world](ring::Batch& batch) { batch.ring_fingerprint = world.fingerprint; };
    target_of(to).window.resend(now, to, refresh, again);
    for (BatchOut& batch : again) out.push_back({to, std::move(batch.batch)});
    // One walk over the peer's tasks when nothing of them is due.
    bool to_activate = false;
    bool to_ask = false;
    bool to_compare = false;
    bool to_send = false;
    for (auto at = tasks_.lower_bound({to, 0}); at != tasks_.end() && at->first.to == to; ++at) {
      const State& state = at->second;
      to_activate = to_activate || (state.stage == Stage::waiting && now >= state.since);
      to_ask = to_ask || state.stage == Stage::getting_ready ||
               (state.stage == Stage::comparing && now - state.since >= state.patience);
      to_compare = to_compare || state.stage == Stage::comparing_leaves;
      to_send = to_send || state.stage == Stage::sending;
    }
    if (to_activate) activate(now, to);
    if (to_activate || to_ask) ask(now, world, to, out);
    if (to_compare)
      if (Result<void> asked = compare_leaves(now, world, to, out); !asked) return asked;
    if (to_send)
      if (Result<void> sent = send(now, world, to, out); !sent) return sent;
  }
  due_.reset();
  const auto consider = [&](std::optional<Time> at) {
    if (at) due_ = due_ ? std::min(*due_, *at) : *at;
  };
  for (const auto& [task, state] : tasks_) {
    if (state.stage == Stage::waiting) consider(std::max(state.since, now + ready_poll));
    if (state.stage == Stage::getting_ready) consider(now + ready_poll);
    if (state.stage == Stage::comparing) consider(state.since + state.patience);
    if (state.stage == Stage::comparing_leaves) consider(state.since + config_.batch.timeout);
  }
  for (const auto& [to, target] : targets_) {
    consider(target.window.next_deadline());
    if (now < target.window.not_before()) consider(target.window.not_before());
  }
  return {};
}

void Transfers::activate(Time now, const ring::PeerId& to) {
  std::size_t active = 0;
  const auto first = tasks_.lower_bound({to, 0});
  for (auto at = first; at != tasks_.end() && at->first.to == to; ++at) active += at->second.active() ? 1 : 0;
  for (auto at = first; at != tasks_.end() && at->first.to == to; ++at) {
    State& state = at->second;
    if (state.stage != Stage::waiting || now < state.since) continue;
    state.empty = store_->counts(at->first.partition).discovered() == 0;
    if (!state.empty && active >= config_.max_active) continue;
    active += state.empty ? 0 : 1;
    set_stage(at->first, state, Stage::getting_ready);
  }
}

// Asks for comparison of the roots of all partitions that are ready, and again where no answer came.
void Transfers::ask(Time now, const World& world, const ring::PeerId& to, std::vector<Out>& out) {
  std::map<std::pair<ring::TransferKind, bool>, ring::Roots> questions;
  const auto first = tasks_.lower_bound({to, 0});
  for (auto at = first; at != tasks_.end() && at->first.to == to; ++at) {
    const ring::Partition partition = at->first.partition;
    State& state = at->second;
    const bool again = state.stage == Stage::comparing && now - state.since >= state.patience;
    const bool ready = state.stage == Stage::getting_ready && world.ready(partition, state.kind);
    if (!again && !ready) continue;
    ring::Roots& question = questions[{state.kind, state.extras.give}];
    if (question.roots.size() >= config_.roots_a_message) continue;
    question.roots.push_back({partition, state.extras.already_sent ? 0 : store_->root(partition)});
    question.tenures.push_back({partition, world.tenures.of(partition)});
    if (question.sequence == 0) question.sequence = world.new_sequence();
    // Only the answer to the last question counts: with a constant wait, none would count on a slower line.
    state.patience = again ? std::max(std::min(2 * state.patience, max_patience), config_.batch.timeout)
                           : std::min(first_patience, config_.batch.timeout);
    set_stage(at->first, state, Stage::comparing);
    state.question = question.sequence;
    state.since = now;
  }
  for (auto& [kind, question] : questions) {
    question.kind = kind.first;
    question.give = kind.second;
    std::vector<ring::Partition>& asked = target_of(to).questions[question.sequence];
    for (const ring::PartitionDigest& root : question.roots) asked.push_back(root.partition);
    out.push_back({to, std::move(question)});
  }
  // Questions that never got an answer are not kept forever.
  std::map<std::uint64_t, std::vector<ring::Partition>>& open = target_of(to).questions;
  while (open.size() > max_questions) open.erase(open.begin());
}

void Transfers::compared(const ring::PeerId& from, const ring::RootsCompared& answer, Time now) {
  const auto target = targets_.find(from);
  if (target == targets_.end()) return;
  const auto question = target->second.questions.find(answer.sequence);
  if (question == target->second.questions.end()) return;
  const std::vector<ring::Partition> asked = std::move(question->second);
  target->second.questions.erase(question);
  const std::set<ring::Partition> differ(answer.differ.begin(), answer.differ.end());
  const std::set<ring::Partition> later(answer.later.begin(), answer.later.end());
  news_ = true;
  for (const ring::Partition partition : asked) {
    const auto found = tasks_.find({from, partition});
    if (found == tasks_.end() || found->second.stage != Stage::comparing) continue;
    if (found->second.question != answer.sequence) continue;
    State& state = found->second;
    const bool equal = !later.contains(partition) && !differ.contains(partition);
    // Answered: who is awaited again after this is asked again.
    const bool give = !later.contains(partition) && std::exchange(state.extras.give, false);
    if (equal && give) equal_.push_back(found->first);
    if (later.contains(partition)) {
      restart(found->first, state, now + later_wait);
    } else if (state.kind == ring::TransferKind::ask) {
      end(Task(found->first), equal);  // what it has comes from it
    } else if (differ.contains(partition)) {
      state.since = Time{};
      state.question = 0;
      const bool large = store_->counts(partition).discovered() >= config_.leaves_from;
      set_stage(found->first, state, large ? Stage::comparing_leaves : Stage::sending);
    } else if (state.kind == ring::TransferKind::hand_off || state.extras.hosts) {
      state.records_done = true;  // hosts' waits may be news
      set_stage(found->first, state, Stage::sending);
    } else {
      end(Task(found->first), true);
    }
  }
}

Result<void> Transfers::compare_leaves(Time now, const World& world, const ring::PeerId& to, std::vector<Out>& out) {
  const auto first = tasks_.lower_bound({to, 0});
  for (auto at = first; at != tasks_.end() && at->first.to == to; ++at) {
    State& state = at->second;
    if (state.stage != Stage::comparing_leaves || (state.since != Time{} && now - state.since < config_.batch.timeout))
      continue;
    const auto leaves = store_->leaves(at->first.partition);
    if (!leaves) return tl::make_unexpected(error_of(leaves.error()));
    if (state.question == 0) state.question = world.new_sequence();
    out.push_back({to, ring::Leaves{.partition = at->first.partition,
                                    .tenure = world.tenures.of(at->first.partition),
                                    .leaves = {leaves->begin(), leaves->end()},
                                    .sequence = state.question}});
    state.since = now;
    break;  // each costs a walk over the partition: one per step
  }
  return {};
}

void Transfers::leaves_differ(const ring::PeerId& from, const ring::LeavesDiffer& answer) {
  const auto found = tasks_.find({from, answer.partition});
  if (found == tasks_.end() || found->second.stage != Stage::comparing_leaves) return;
  if (answer.differ.size() != ring::max_leaves || answer.sequence != found->second.question) return;
  found->second.differ = answer.differ;
  set_stage(found->first, found->second, Stage::sending);
  news_ = true;
}

// ---- sending ----

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

Result<void> Transfers::send(Time now, const World& world, const ring::PeerId& to, std::vector<Out>& out) {
  Target& target = target_of(to);
  while (target.window.open(now)) {
    ring::Batch batch{.ring_fingerprint = world.fingerprint, .kind = ring::BatchKind::transfer};
    std::vector<ring::BatchRecord> records;
    Partitions partitions;
    std::size_t bytes = 0;
    std::vector<Task> over;  // ended: nothing to send and nothing to complete
    const auto first = tasks_.lower_bound({to, 0});
    for (auto at = first; at != tasks_.end() && at->first.to == to; ++at) {
      if (!config_.batch.has_room(records.size(), bytes)) break;
      const ring::Partition partition = at->first.partition;
      State& state = at->second;
      if (state.stage != Stage::sending || (state.all_sent() && (state.in_flight > 0 || state.complete_sent))) continue;
      const std::size_t before = records.size();
      if (Result<void> filled = fill_batch(now, world, partition, state, records, bytes); !filled) return filled;
      const bool completes = returns(state.kind) && state.all_sent() && state.in_flight == 0;
      if (completes) {
        batch.complete.push_back(partition);
        state.complete_sent = true;
      }
      if (records.size() > before || completes) {
        partitions.insert(partition);
        batch.tenures.push_back({partition, world.tenures.of(partition)});
        ++state.in_flight;
      } else if (state.all_sent() && state.in_flight == 0) {
        over.push_back(at->first);
      }
    }
    for (const Task& task : over) end(task, false);
    if (partitions.empty()) return {};
    batch.sequence = world.new_sequence();
    records_sent_ += records.size();
    bytes_sent_ += bytes;
    batch.records = std::move(records);
    out.push_back({to, target.window.add(now, std::move(batch), std::move(partitions))});
  }
  return {};
}

bool Transfers::acknowledged(const ring::PeerId& from, std::uint64_t sequence) {
  const auto target = targets_.find(from);
  if (target == targets_.end()) return false;
  const auto batch = target->second.window.acknowledged(sequence);
  if (!batch) return false;
  news_ = true;
  for (const ring::Partition partition : batch->content) {
    const auto task = tasks_.find({from, partition});
    if (task == tasks_.end()) continue;
    State& state = task->second;
    --state.in_flight;
    if (!state.all_sent() || state.in_flight > 0) continue;
    if (!returns(state.kind) || state.complete_sent) end(Task(task->first), false);
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
  news_ = true;
  return true;
}

}  // namespace orbweaver
