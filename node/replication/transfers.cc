#include "node/replication/transfers.h"

#include <algorithm>

#include "node/errors/storage_error.h"

namespace orbweaver {

namespace {

// Time between two checks whether a partition is ready, and after the answer "not now".
constexpr Duration ready_poll = std::chrono::milliseconds{20};
constexpr Duration later_wait = std::chrono::milliseconds{300};
// A partition that is not ready to move after this long makes room for others, and tries again after as long: say, an
// owner of its pages' links is slow.
constexpr Duration max_getting_ready = std::chrono::seconds{5};
// What is written while it is returned goes once in this time, and not with each write.
constexpr Duration patience_with_writes = std::chrono::seconds{1};
// A question is asked again soon, for the first one to a peer that is back may be lost with a connection that a cut
// left behind; then after the timeout, after twice that, and so on up to a maximum.
constexpr Duration first_patience = std::chrono::seconds{1};
constexpr Duration max_patience = std::chrono::minutes{1};
// Questions to one peer that wait for an answer; the answer to an older one does not count.
constexpr std::size_t max_questions = 1024;

}  // namespace

void Transfers::want(const Task& task, ring::TransferKind kind, const Extras& extras) {
  const auto [at, added] = tasks_.try_emplace(task);
  if (!added && at->second.kind == kind) {
    Extras& now = at->second.extras;
    const bool asks_more = (extras.give && !now.give) || (extras.hosts && !now.hosts);
    now.give = now.give || extras.give;
    now.hosts = now.hosts || extras.hosts;
    now.fill = now.fill || extras.fill;
    const bool hastened = now.patient && !extras.patient;
    now.patient = now.patient && extras.patient;
    count(at->second);
    // What is asked already has not asked for this.
    if ((asks_more && at->second.stage > Stage::getting_ready) || (hastened && at->second.stage == Stage::waiting))
      restart(task, at->second, Time{});
    return;
  }
  if (!added) cancel(task);
  State& state = tasks_[task];
  state.kind = kind;
  state.extras = extras;
  if (extras.patient) state.since = ticked_ + patience_with_writes;
  peers_of_[task.partition].insert(task.to);
  ++of_kind_[static_cast<std::size_t>(kind)];
  count(state);
  Target& target = target_of(task.to);
  state.place = place_of(task.partition, state);
  target.places.insert(state.place);
  note_news(task.to, target);
}

void Transfers::count(State& state) {
  const bool fills =
      state.kind == ring::TransferKind::backfill && (state.extras.fill || state.stage > Stage::comparing);
  const bool owed = state.kind == ring::TransferKind::return_ && state.extras.give;
  if ((fills || owed) == state.counted) return;
  state.counted = !state.counted;
  state.counted ? ++counter(state.kind) : --counter(state.kind);
}

Transfers::Place Transfers::place_of(ring::Partition partition, const State& state) const {
  Place place{.partition = partition};
  switch (state.stage) {
    case Stage::waiting:
      place.next = !state.no_room ? Next::activate : state.moves() ? Next::wait_to_move : Next::wait_for_room;
      if (!state.no_room) place.due = state.since;
      break;
    case Stage::getting_ready:
      place.next = Next::get_ready;
      break;
    case Stage::comparing:
      place.next = Next::ask_again;
      place.due = state.since + state.patience;
      break;
    case Stage::comparing_leaves:
      place.next = Next::ask_for_leaves;
      if (state.since != Time{}) place.due = state.since + config_.batch.timeout;
      break;
    case Stage::sending:
      place.next = state.all_sent() && (state.in_flight > 0 || state.complete_sent) ? Next::hear : Next::send;
      break;
  }
  return place;
}

void Transfers::list(Target& target, ring::Partition partition, State& state, bool was_active) {
  if (was_active) --target.going(state);
  if (state.active()) ++target.going(state);
  const Place place = place_of(partition, state);
  if (place == state.place) return;
  auto node = target.places.extract(state.place);
  node.value() = place;
  target.places.insert(std::move(node));
  state.place = place;
}

void Transfers::set_stage(const Task& task, State& state, Stage stage) {
  state.stage = stage;
  count(state);
  if (state.kind != ring::TransferKind::hand_off) return;
  if (stage == Stage::waiting) {
    if (frozen_.erase(task.partition) > 0) thawed_.push_back(task.partition);
  } else {
    frozen_.insert(task.partition);
  }
}

void Transfers::restart(const Task& task, State& state, Time not_before, Stage stage) {
  Target& target = target_of(task.to);
  target.window.change_contents([&task](Partitions& waiting) { waiting.erase(task.partition); });
  const bool was_active = state.active();
  set_stage(task, state, stage);
  State fresh;
  fresh.stage = stage;
  if (stage != Stage::waiting) fresh.passes = state.passes + 1;
  fresh.kind = state.kind;
  fresh.extras = state.extras;
  fresh.counted = state.counted;
  fresh.since = not_before;
  fresh.place = state.place;
  state = std::move(fresh);
  list(target, task.partition, state, was_active);
  note_news(task.to, target);
}

void Transfers::cancel(const Task& task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  restart(task, found->second, Time{});
  --of_kind_[static_cast<std::size_t>(found->second.kind)];
  if (found->second.counted) --counter(found->second.kind);
  const auto peers = peers_of_.find(task.partition);
  peers->second.erase(task.to);
  if (peers->second.empty()) peers_of_.erase(peers);
  target_of(task.to).places.erase(found->second.place);
  tasks_.erase(found);
}

bool Transfers::cancel_of(ring::TransferKind kind, const Task& task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.kind != kind) return false;
  cancel(task);
  return true;
}

void Transfers::begin_anew(ring::Partition partition) {
  const auto peers = peers_of_.find(partition);
  if (peers == peers_of_.end()) return;
  for (const ring::PeerId& to : peers->second) restart({to, partition}, tasks_.at({to, partition}), Time{});
}

void Transfers::note_unsent(ring::Partition partition) {
  const auto peers = peers_of_.find(partition);
  if (peers == peers_of_.end()) return;
  for (const ring::PeerId& to : peers->second)
    if (State& state = tasks_.at({to, partition}); state.stage > Stage::getting_ready) state.in_part = true;
}

void Transfers::send_anew(const Task& task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || !std::exchange(found->second.extras.already_sent, false)) return;
  restart(task, found->second, Time{});
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

std::vector<Transfers::Done> Transfers::take_done() { return std::exchange(done_, {}); }

// ---- what is due ----

void Transfers::note_news(const ring::PeerId& to, Target& target) {
  target.news = true;
  due_.set(to, Time{});
}

// Tasks whose wait is over begin together with others, and what is not ready is looked at again, every ready_poll.
std::optional<Time> Transfers::next_deadline() const {
  std::optional<Time> at = due_.first();
  const std::optional<Time> wakes = getting_ready_.empty() ? wakes_.first() : Time{};
  if (wakes) at = std::min(at.value_or(Time::max()), std::max(*wakes, ticked_ + ready_poll));
  return at;
}

Result<void> Transfers::tick(Time now, const World& world, std::vector<Out>& out) {
  const std::optional<Time> due = next_deadline();
  if (!due || now < *due) return {};
  ticked_ = now;
  std::set<ring::PeerId> peers = getting_ready_;
  due_.due(now, peers);
  wakes_.due(now, peers);
  for (const ring::PeerId& to : peers) {
    const Turn turn{now, world, to, targets_.at(to), out};
    if (Result<void> served = serve(turn); !served) return served;
    rest(turn);
  }
  return {};
}

Result<void> Transfers::serve(const Turn& turn) {
  Target& target = turn.target;
  target.news = false;
  // Batches whose transfers were cancelled or begun again count as in flight until they are answered or are late.
  target.window.drop_late(turn.now, [](const Partitions& waiting) { return waiting.empty(); });
  if (target.places.empty()) return {};
  std::vector<BatchOut> again;
  // The batch's tenures stay as they were: what it completes is complete under these only.
  const auto refresh = [&turn](ring::Batch& batch) { batch.ring_fingerprint = turn.world.fingerprint; };
  target.window.resend(turn.now, turn.to, refresh, again);
  for (BatchOut& batch : again) turn.out.push_back({turn.to, std::move(batch.batch)});
  activate(turn);
  ask(turn);
  if (Result<void> asked = compare_leaves(turn); !asked) return asked;
  return send(turn);
}

// Until something of the target is due again.
void Transfers::rest(const Turn& turn) {
  Target& target = turn.target;
  if (target.places.empty() && target.window.empty()) {
    due_.set(turn.to, std::nullopt);
    wakes_.set(turn.to, std::nullopt);
    getting_ready_.erase(turn.to);
    targets_.erase(turn.to);
    return;
  }
  const auto first = [&target](Next next) -> const Place* {
    const auto at = target.places.lower_bound({.next = next});
    return at == target.places.end() || at->next != next ? nullptr : &*at;
  };
  const auto sooner = [](std::optional<Time>& time, Time other) { time = std::min(time.value_or(other), other); };
  std::optional<Time> due = target.window.next_deadline();
  if (turn.now < target.window.not_before()) sooner(due, target.window.not_before());
  for (const Next next : {Next::ask_again, Next::ask_for_leaves})
    if (const Place* const place = first(next)) sooner(due, place->due);
  due_.set(turn.to, target.news ? Time{} : due);
  std::optional<Time> wakes;
  for (const Next next : {Next::activate, Next::wait_for_room, Next::wait_to_move})
    if (const Place* const place = first(next)) sooner(wakes, place->due);
  wakes_.set(turn.to, wakes);
  if (first(Next::get_ready) != nullptr) {
    getting_ready_.insert(turn.to);
  } else {
    getting_ready_.erase(turn.to);
  }
}

// Those with nothing to send at once; of the others as many as there is room for.
void Transfers::activate(const Turn& turn) {
  Target& target = turn.target;
  const auto begin = [&](const Place& place, bool may_wait) {
    const Task task{turn.to, place.partition};
    State& state = tasks_.at(task);
    state.empty = store_->counts(task.partition).discovered() == 0;
    state.no_room = may_wait && !state.empty;
    if (!state.no_room) {
      set_stage(task, state, Stage::getting_ready);
      state.since = turn.now;
    }
    list(target, task.partition, state, false);
  };
  while (!target.places.empty() && target.places.begin()->next == Next::activate &&
         target.places.begin()->due <= turn.now)
    begin(Place(*target.places.begin()), true);
  const auto begin_waiting = [&](Next next, const std::size_t& going) {
    while (going < config_.max_active) {
      const auto waits = target.places.lower_bound({.next = next});
      if (waits == target.places.end() || waits->next != next) break;
      begin(Place(*waits), false);
    }
  };
  begin_waiting(Next::wait_for_room, target.active);
  begin_waiting(Next::wait_to_move, target.moving);
}

// Asks for comparison of the roots of all partitions that are ready, and again where no answer came.
void Transfers::ask(const Turn& turn) {
  std::map<std::pair<ring::TransferKind, bool>, ring::Roots> questions;
  std::vector<Task> unready;
  const auto add = [&](ring::Partition partition) {
    const Task task{turn.to, partition};
    State& state = tasks_.at(task);
    const bool again = state.stage == Stage::comparing;
    if (!again && !turn.world.ready(partition, state.kind)) {
      if (state.moves() && turn.now - state.since >= max_getting_ready) unready.push_back(task);
      return true;
    }
    ring::Roots& question = questions[{state.kind, state.extras.give}];
    if (question.roots.size() >= config_.roots_a_message) return false;  // the others come with the next tick
    state.root = store_->root(partition);
    question.roots.push_back({partition, state.extras.already_sent ? 0 : state.root});
    question.tenures.push_back({partition, turn.world.tenures.of(partition)});
    if (question.sequence == 0) question.sequence = turn.world.new_sequence();
    // Only the answer to the last question counts: with a constant wait, none would count on a slower line.
    state.patience = again ? std::max(std::min(2 * state.patience, max_patience), config_.batch.timeout)
                           : std::min(first_patience, config_.batch.timeout);
    set_stage(task, state, Stage::comparing);
    state.question = question.sequence;
    state.since = turn.now;
    list(turn.target, partition, state, state.active());
    return true;
  };
  // In the order of their names.
  const std::set<Place>& places = turn.target.places;
  std::set<ring::Partition> again;
  for (auto at = places.lower_bound({.next = Next::ask_again});
       at != places.end() && at->next == Next::ask_again && at->due <= turn.now; ++at)
    again.insert(at->partition);
  auto at = places.lower_bound({.next = Next::get_ready});
  for (bool room = true; room;) {
    const bool ready = at != places.end() && at->next == Next::get_ready;
    if (!ready && again.empty()) break;
    if (ready && (again.empty() || at->partition < *again.begin())) {
      room = add((at++)->partition);
    } else {
      room = add(again.extract(again.begin()).value());
    }
  }
  for (auto& [kind, question] : questions) {
    question.kind = kind.first;
    question.give = kind.second;
    std::vector<ring::Partition>& of_question = turn.target.questions[question.sequence];
    for (const ring::PartitionDigest& root : question.roots) of_question.push_back(root.partition);
    turn.out.push_back({turn.to, std::move(question)});
  }
  const auto waits = places.lower_bound({.next = Next::wait_to_move});
  if (waits != places.end() && waits->next == Next::wait_to_move)
    for (const Task& task : unready) restart(task, tasks_.at(task), turn.now + max_getting_ready);
  // Questions that never got an answer are not kept forever.
  std::map<std::uint64_t, std::vector<ring::Partition>>& open = turn.target.questions;
  while (open.size() > max_questions) open.erase(open.begin());
}

// Each costs a walk over the partition: one per step.
Result<void> Transfers::compare_leaves(const Turn& turn) {
  const auto at = turn.target.places.lower_bound({.next = Next::ask_for_leaves});
  if (at == turn.target.places.end() || at->next != Next::ask_for_leaves || at->due > turn.now) return {};
  const ring::Partition partition = at->partition;
  State& state = tasks_.at({turn.to, partition});
  const auto leaves = store_->leaves(partition);
  if (!leaves) return tl::make_unexpected(error_of(leaves.error()));
  if (state.question == 0) state.question = turn.world.new_sequence();
  turn.out.push_back({turn.to, ring::Leaves{.partition = partition,
                                            .tenure = turn.world.tenures.of(partition),
                                            .leaves = {leaves->begin(), leaves->end()},
                                            .sequence = state.question}});
  state.since = turn.now;
  list(turn.target, partition, state, state.active());
  return {};
}

// ---- answers ----

void Transfers::compared(const ring::PeerId& from, const ring::RootsCompared& answer, Time now) {
  const auto target = targets_.find(from);
  if (target == targets_.end()) return;
  const auto question = target->second.questions.find(answer.sequence);
  if (question == target->second.questions.end()) return;
  const std::vector<ring::Partition> asked = std::move(question->second);
  target->second.questions.erase(question);
  note_news(from, target->second);
  const std::set<ring::Partition> differ(answer.differ.begin(), answer.differ.end());
  const std::set<ring::Partition> later(answer.later.begin(), answer.later.end());
  for (const ring::Partition partition : asked) {
    const auto found = tasks_.find({from, partition});
    if (found == tasks_.end() || found->second.stage != Stage::comparing) continue;
    if (found->second.question != answer.sequence) continue;
    State& state = found->second;
    const bool equal = !later.contains(partition) && !differ.contains(partition);
    // Answered: who is awaited again after this is asked again. A return goes on saying what it said.
    const bool give = !later.contains(partition) && !returns(state.kind) && std::exchange(state.extras.give, false);
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
      list(target->second, partition, state, state.active());
    } else if (state.kind == ring::TransferKind::hand_off || state.extras.hosts) {
      state.records_done = true;  // hosts' waits may be news
      set_stage(found->first, state, Stage::sending);
      list(target->second, partition, state, state.active());
    } else {
      end(Task(found->first), true);
    }
  }
}

void Transfers::leaves_differ(const ring::PeerId& from, const ring::LeavesDiffer& answer) {
  const auto found = tasks_.find({from, answer.partition});
  if (found == tasks_.end() || found->second.stage != Stage::comparing_leaves) return;
  if (answer.differ.size() != ring::max_leaves || answer.sequence != found->second.question) return;
  found->second.differ = answer.differ;
  set_stage(found->first, found->second, Stage::sending);
  Target& target = targets_.at(from);
  list(target, answer.partition, found->second, found->second.active());
  note_news(from, target);
}

}  // namespace orbweaver
