#include "tests/sim/world.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "node/replication/copied_until.h"
#include "node/settings/units.h"
#include "ring/codec.h"
#include "ring/md5.h"

namespace orbweaver::sim {

namespace {

// A loop that wants to be called at once is called after this time.
constexpr Duration busy_step{std::chrono::microseconds{100}};
// This many calls in a row that did nothing, each wanting another at once, are a loop that eats a processor. Planning
// all partitions, a few in a step, takes as many again.
constexpr std::uint32_t max_idle_ticks = 1000;
// After the faults' end, a peer that left its work on its disk is noticed after this time,
constexpr Duration alone_wait{std::chrono::seconds{1}};
// and one that stopped while it left after this: the ring waits for it.
constexpr Duration late_wait{std::chrono::seconds{20}};
// How long fetches in flight may go on after a stop (node/process/peer_process.cc).
constexpr Duration stop_patience{std::chrono::seconds{3}};
constexpr std::string_view ask_route = "ask";
// Steps of a peer between two looks at the status that it reports.
constexpr std::uint64_t status_every = 256;
constexpr std::uint64_t look_whether_whole_every = 32;

// A page that a peer returns as queued: it fetched it before its start, or was alone since. The links may be missing
// still (decision 26, point 2).
bool returned_as_queued(const SimPeer& peer, const storage::UrlRecord& page, Time now) {
  const auto row = peer.store->meta(meta_name::copied_until);
  CopiedUntil copied;
  return (peer.generation > 1 || peer.alone || !page.fetched_here) && row && *row && copied.restore(**row, now) &&
         copied.lacks(page);
}

// The visits of a page that have an outcome.
std::uint32_t visits_ended(const storage::UrlRecord& record) {
  const bool ended = record.state == storage::UrlState::fetched || record.state == storage::UrlState::failed;
  return record.visit + (ended ? 1 : 0);
}

ring::PeerId id_from(const std::string& text) {
  ring::PeerId id;
  id.bytes = ring::md5(text);
  return id;
}

std::string describe(const Event& event) {
  if (const auto* in = std::get_if<MessageEvent>(&event))
    return std::string(ring::type_name(in->message.body)) + " from " + in->message.from.brief();
  if (const auto* ended = std::get_if<FetchEnded>(&event))
    return "fetch_ended " + std::to_string(ended->id) + " status " + std::to_string(ended->status) + " error " +
           std::to_string(static_cast<int>(ended->error));
  if (const auto* page = std::get_if<PageDone>(&event)) return "page_done " + std::to_string(page->id);
  if (std::holds_alternative<HostResolved>(event)) return "host_resolved";
  if (std::holds_alternative<CheckpointMade>(event)) return "checkpoint_made";
  if (std::holds_alternative<CheckpointListed>(event)) return "checkpoint_listed";
  if (const auto* stop = std::get_if<StopEvent>(&event)) return stop->leave ? "leave" : "stop";
  return "tick";
}

}  // namespace

World::World(Parameters parameters, bool keep_trace)
    : parameters_(std::move(parameters)),
      web_(parameters_.web),
      random_(parameters_.seed ^ 0x5eed),
      checkers_(all_checkers()),
      seeds_(parameters_.seeds(web_)),
      trace_(keep_trace) {
  for (std::size_t i = 0; i < parameters_.peers; ++i) {
    // The first peer makes the ring; the others join through any earlier one.
    const Duration starts = i == 0 ? Duration{} : random_.between(Duration{}, Duration{std::chrono::seconds{1}});
    const std::size_t peer = add_peer(starts, i == 0 ? std::nullopt : std::optional<std::size_t>(random_.below(i)));
    if (peer == 0 || parameters_.seeds_at_all) peers_[peer].seeds = seeds_;
  }
  for (const auto& [peer, by] : parameters_.skews)
    if (peer < peers_.size()) peers_[peer].skew = by;
  for (const Fault& fault : parameters_.faults) {
    if (fault.kind == Fault::Kind::join) add_joiner(fault);
    if (fault.kind == Fault::Kind::power_cut && fault.peer < peers_.size())
      peers_[fault.peer].kv->keep_unsynced(fault.writes);
    at(fault.at, [this, fault] { inject(fault); });
  }
  at(parameters_.faults_end, [this] { heal(); });
}

// Builds the peer that a join fault starts later.
void World::add_joiner(const Fault& fault) {
  const std::size_t number = peers_.size();
  if (fault.peer != number || fault.through >= number)
    return fail("world", "joining peers are numbered in order, and join through an earlier one: " + fault.text());
  build_peer(fault.through, {});
  const auto skew = parameters_.skews.find(number);
  if (skew != parameters_.skews.end()) peers_[number].skew = skew->second;
}

std::size_t World::add_peer(Duration starts, std::optional<std::size_t> join,
                            const std::function<void(LoadedSettings&)>& tweak) {
  const std::size_t number = build_peer(join, tweak);
  at(starts, [this, number] { start(number); });
  return number;
}

std::size_t World::build_peer(std::optional<std::size_t> join, const std::function<void(LoadedSettings&)>& tweak) {
  const std::size_t number = peers_.size();
  SimPeer peer;
  peer.number = number;
  peer.address = "10.0.0." + std::to_string(number + 1) + ":7400";
  peer.settings.values = parameters_.settings;
  const auto ring_wide = ring_wide_settings(parameters_.settings);
  if (join && random_.chance(500)) {
    // The joiner knows nothing of the crawl and takes the ring's values.
    if (!apply_ring_wide(peer.settings.values, ring_wide_settings(default_settings())))
      fail("world", "default settings");
  } else {
    for (const auto& [name, value] : ring_wide) peer.settings.given[name] = "flag --" + name;
  }
  peer.through = join;
  if (tweak) tweak(peer.settings);
  peer.kv = std::make_unique<storage::MemoryKv>();
  peer.archive = std::make_shared<SimArchive>(*peer.kv);
  by_address_[peer.address] = number;
  peer.wait_for_peers = number < parameters_.peers ? parameters_.peers : 1;
  peers_.push_back(std::move(peer));
  return number;
}

std::size_t World::start_copy(std::size_t of) {
  const std::size_t number = build_peer({}, {});
  peers_[number].kv = std::make_unique<storage::MemoryKv>(*peers_[of].kv);
  peers_[number].archive = std::make_shared<SimArchive>(*peers_[number].kv);
  peers_[number].may_be_refused = peers_[number].copy = true;
  peers_[number].skew = peers_[of].skew;
  start(number);
  return number;
}

void World::at(Duration since, std::function<void()> what) { schedule(start_ + since, std::move(what)); }

// Where living peers may look dead, the others may have records that do not reach the taker: it fetches them again.
void World::took_over(std::size_t number) {
  ++stats_.taken_over;
  const Core& taker = *peers_[number].core;
  for (std::uint32_t i = 0; i < parameters_.settings.partitions; ++i) {
    const auto partition = static_cast<ring::Partition>(i);
    if (parameters_.living_may_look_dead() && taker.tenures().of(partition).holder == taker.id()) held_twice(partition);
  }
}

std::optional<ring::Partition> World::partition_of(const Request& request) const {
  const Settings& settings = parameters_.settings;
  if (settings.partition_by == PartitionBy::url && request.kind == RequestKind::robots) return std::nullopt;
  const Result<CanonicalUrl> url = CanonicalUrl::parse(base_of(request.url));
  if (!url) return std::nullopt;
  return Partitioner(settings.partition_by, settings.partitions).partition(*url);
}

// ---- peers ----

void World::start(std::size_t number) {
  SimPeer& peer = peers_[number];
  if (peer.status == Status::up || peer.status == Status::gone) return;
  if (ending_ && (peer.status == Status::absent || peer.leaving)) {
    peer.status = Status::gone;  // too late to join
    return;
  }
  auto store = storage::Store::open(*peer.kv);
  if (store && ending_ && knows_no_seeds(*store)) {  // it would wait for seeds
    peer.status = Status::gone;
    return;
  }
  if (!store)
    return fail("world", "peer " + std::to_string(number) + " cannot open its store: " + store.error().message);
  peer.store = std::make_unique<storage::Store>(std::move(*store));
  ++peer.generation;
  forget_connections(number);
  move_elsewhere(peer);
  peer.started = now_;
  if (peer.through) peer.settings.values.join = {peers_[*peer.through].address};
  peer.skew += std::exchange(peer.clock_step, {});
  PeerStart begin;
  begin.settings = peer.settings;
  begin.address = peer.address;
  std::string salt = std::to_string(parameters_.seed) + "/" + std::to_string(number);
  if (peer.disks > 1) salt += "/" + std::to_string(peer.disks);
  begin.fresh_id = id_from("peer" + salt);
  begin.fresh_ring = id_from("ring" + salt);
  begin.random_seed = random_.next();
  begin.memory.seen_sets = parameters_.seen_set_bytes;
  begin.recovery_steps = {parameters_.leaves_from, parameters_.partitions_a_step, parameters_.walk_records};
  begin.seeds = peer.seeds;
  begin.wait_for_peers = peer.wait_for_peers;
  begin.at_work = peer.at_work;
  // Memory for some files only: the others are read back again and again. No draw of its own, as above.
  if (parameters_.seed % 3 == 0) begin.memory.robots = 1500;
  let_reads_fail(peer, true);
  auto core = Core::open(std::move(begin), *peer.store, clock_of(peer));
  let_reads_fail(peer, false);
  if (!core && peer.disk_fault) {
    note("peer " + std::to_string(number) + " cannot start: " + core.error().message);
    return disk_failed(number);
  }
  if (!core) return fail("world", "peer " + std::to_string(number) + " cannot start: " + core.error().message);
  peer.at_work.clear();
  peer.archive->finish();
  peer.sync_group = std::make_unique<SyncGroup>();
  peer.core = std::move(*core);
  peer.status = Status::up;
  peer.cancelled = false;
  peer.mute = false;
  peer.leaving = false;
  peer.wake.reset();
  peer.idle_ticks = 0;
  note("peer " + std::to_string(number) + " starts as " + peer.core->id().brief() + ", life " +
       std::to_string(peer.generation));
  peer.ring = peer.core->ring().fingerprint();
  step(number, TickEvent{});
}

// Its directory goes on at another address. Who has been up all the time knows those of the others, and is known: a
// peer that does not know that a forgotten member is back does not tell it its new address. One that moved earlier has
// been met since: else all whom it knew could be elsewhere one day. Who asks to join knows one address only, the one
// that it was given: as long as it asks there, the directory stays.
void World::move_elsewhere(SimPeer& peer) {
  if (parameters_.moves == 0 || forgot_ || peer.generation == 1 || !random_.chance(parameters_.moves)) return;
  const Duration to_meet = parameters_.settings.suspicion_time;
  const bool found = std::any_of(peers_.begin(), peers_.end(), [&](const SimPeer& other) {
    return other.number != peer.number && is_member(other) && !other.paused &&
           std::max(other.started, peer.went_on) + to_meet < peer.ended;
  });
  const bool all_met = std::all_of(peers_.begin(), peers_.end(), [&](const SimPeer& moved) {
    return moved.generation == 1 || moved.number == peer.number || moved.status == Status::gone ||
           std::any_of(peers_.begin(), peers_.end(), [&](const SimPeer& other) {
             return other.number != moved.number && is_member(other) && !state_of(moved, other).empty();
           });
  });
  const bool asked = std::any_of(peers_.begin(), peers_.end(), [&](const SimPeer& other) {
    return other.status == Status::up && other.through == peer.number && other.core->own_status()["ring"] == "";
  });
  if (!found || !all_met || asked) return;
  by_address_.erase(peer.address);
  peer.address = "10.0." + std::to_string(peer.generation) + "." + std::to_string(peer.number + 1) + ":7400";
  by_address_[peer.address] = peer.number;
  count("a directory that moved");
}

// Of a peer that dies, or is left alone: a page whose last outcome it alone has may be fetched once more by whichever
// peer takes over. An outcome that another one returns as queued is none.
void World::note_single_copies(const SimPeer& peer) {
  if (!peer.store) return;
  for (const std::uint16_t partition : peer.store->partitions()) {
    const auto records = peer.store->scan(partition, nullptr, 1'000'000);
    if (!records) return fail("world", records.error().message);
    for (const storage::Merge& merge : *records) {
      const std::uint32_t ended = visits_ended(merge.record);
      if (ended == 0) continue;
      const bool known = std::any_of(peers_.begin(), peers_.end(), [&](const SimPeer& other) {
        if (other.number == peer.number || !other.store) return false;
        // What one has that does not answer is as good as lost: the others believe that it is down.
        if (other.paused && now_ - other.paused_at >= parameters_.settings.suspicion_time) return false;
        const auto copy = other.store->find(merge.key);
        if (!copy || !*copy || visits_ended(**copy) < ended) return false;
        return (*copy)->state != storage::UrlState::fetched || !returned_as_queued(other, **copy, clock_of(other));
      });
      if (!known) single_copies_.insert(merge.record.url);
    }
  }
}

// What one peer alone has is lost with its disk (decision 11), until others have been filled.
void World::look_whether_alone(SimPeer& peer) {
  const ring::HashRing& ring = peer.core->ring();
  if (parameters_.settings.replicas < 2 || ring.empty()) return;
  if (ring.owners(0, 2).size() == 1) {
    if (!peer.alone) note_single_copies(peer);  // it returns them as queued from now on
    peer.alone = true;
  } else if (peer.alone) {
    const ring::TableSizes tables = peer.core->tables();
    peer.alone = std::any_of(tables.begin(), tables.end(), [](const ring::TableSize& table) {
      return table.entries > 0 && (table.name == "partitions.unfilled" || table.name == "partitions.to_plan");
    });
  }
}

// All peers are there, agree on the ring and on who holds what, and have nothing left to fill, to gain or to return.
// None counts a peer that has no disk any more as a member, or still fetches what another one holds by now.
bool World::all_is_whole() {
  static const std::set<std::string, std::less<>> of_copies = {
      "partitions.to_plan",  "partitions.gaining", "partitions.awaiting",         "partitions.unfilled",
      "partitions.stranded", "partitions.in_part", "partitions.returned_in_part", "record_asks.rounds",
      "replicator.outcomes", "replicator.given_up"};
  std::optional<std::pair<std::uint64_t, std::uint64_t>> agreed;
  return std::all_of(peers_.begin(), peers_.end(), [&](const SimPeer& peer) {
    if (peer.status == Status::gone || peer.status == Status::absent) return true;
    if (!is_member(peer) || peer.core->ring().empty()) return false;
    const std::pair known{peer.core->ring().fingerprint(), peer.core->tenures().fingerprint()};
    if (agreed.value_or(known) != known) return false;
    agreed = known;
    const std::vector<ring::PeerId> owners = peer.core->ring().owners(0, SIZE_MAX);
    if (std::any_of(owners.begin(), owners.end(), [this](const auto& id) { return without_disk_.contains(id); }))
      return false;
    const bool fetches_others = std::any_of(peer.requests.begin(), peer.requests.end(), [&](const auto& entry) {
      const std::optional<ring::Partition> partition = partition_of(entry.second);
      return partition && peer.core->tenures().of(*partition).holder != peer.core->id();
    });
    if (fetches_others) return false;
    const ring::TableSizes tables = peer.core->tables();
    if (std::any_of(tables.begin(), tables.end(),
                    [](const auto& table) { return table.entries > 0 && of_copies.contains(table.name); }))
      return false;
    const nlohmann::json status = peer.core->own_status();
    return status["not_fetching_because"].empty() && status["counts"].value("partitions_to_return", 0) == 0;
  });
}

bool World::has_outcome(const std::string& url) const {
  const Result<CanonicalUrl> page = CanonicalUrl::parse(url);
  if (!page) return false;
  std::optional<storage::UrlRecord> known;
  for (const SimPeer& peer : peers_) {
    if (!peer.store) continue;
    const auto record = peer.store->find(key_of(*page));
    if (record && *record) known = known ? merge(*known, **record) : **record;
  }
  return known && known->state != storage::UrlState::queued;
}

// What was forgiven because copies lacked something, or peers did not know of each other, is so no more.
void World::look_whether_whole() {
  if (stats_.steps % look_whether_whole_every != 0) return;
  if (!copies_may_lack_ && held_twice_.empty() && single_copies_.empty()) return;
  if (sides_may_end_alone() || !all_is_whole()) return;
  note("all is whole");
  if (std::exchange(copies_may_lack_, false)) ++stats_.faults["lost copies made again"];
  held_twice_.clear();
  std::erase_if(single_copies_, [this](const std::string& url) { return has_outcome(url); });
}

// Everything in memory is lost; servers see their connections close.
void World::take_down(std::size_t number, bool failed) {
  SimPeer& peer = peers_[number];
  std::vector<Request> open;
  if (failed && peer.uncommitted) open.push_back(*peer.uncommitted);
  for (auto& [job, request] : peer.requests) {
    if (!request.over) {
      request.ended = now_;
      tell([&](Checker& checker) { checker.request_ended(*this, request, true); });
    }
    open.push_back(request);
  }
  for (const Request& page : std::exchange(peer.in_pieces, {}))
    if (!outcome_written(peer, page)) open.push_back(page);
  if (peer.core) mix_in_status(peer);
  peer.requests.clear();
  peer.paused = false;
  peer.waiting.clear();
  peer.waiting_messages = 0;
  peer.waiting_bytes = 0;
  peer.busy_until = Time{};
  peer.core.reset();
  peer.store.reset();
  peer.status = Status::down;
  peer.ended = now_;
  peer.wake.reset();
  if (!open.empty()) tell([&](Checker& checker) { checker.crashed(*this, number, open); });
}

void World::ask(std::size_t number, const std::string& verb, const std::string& body) {
  if (peers_[number].status != Status::up) return fail("world", "asked a peer that is not up");
  ring::Message message;
  message.body = ring::Ask{1, verb, body, true};
  if (wait_until_it_goes_on(number, [this, number, verb, body] { ask(number, verb, body); })) return;
  const std::size_t answers = answers_.size();
  step(number, MessageEvent{std::move(message), {std::string(ask_route)}});
  if (verb != "seed" || answers_.size() > answers) return;
  const nlohmann::json asked = nlohmann::json::parse(body);
  for (const nlohmann::json& url : asked.at("urls")) unanswered_seeds_.insert(url.get<std::string>());
}

void World::begin_ending() {
  ending_ = true;
  disk_lost_as_it_ended_ =
      disk_lost_just_now() ||
      (disk_lost_at_ && end_proposed_at_ && *disk_lost_at_ >= *end_proposed_at_ - parameters_.settings.suspicion_time);
  // A copy that is left over would do again what was left when it was made, with no peer to tell it otherwise.
  for (const SimPeer& peer : peers_)
    if (peer.copy && peer.status == Status::up) schedule(now_, [this, number = peer.number] { end_copy(number); });
}

void World::exited(std::size_t number, const Exit& exit) {
  SimPeer& peer = peers_[number];
  note("peer " + std::to_string(number) + " exits with " + std::to_string(exit.code) + ": " + exit.message);
  peer.exit = exit;
  if (exit.finished && !ending_) begin_ending();  // the only peer of a ring notifies no other peer
  tell([&](Checker& checker) { checker.exited(*this, number, exit); });
  if (peer.copy) return end_copy(number);
  // It could not hand everything over in time, and is started again after the faults.
  if (exit.code != 0 && exit.message.find("stopped, not left: ") != std::string::npos) {
    const bool late = exit.message.find("leave_timeout is over") != std::string::npos;
    ++stats_.faults[late ? "a leave that leave_timeout ended" : "a leave of one that was alone for a moment"];
    take_down(number);
    peer.leaving = false;
    peer.restart_after.reset();
    schedule(std::max(start_ + parameters_.faults_end, now_) + late_wait, [this, number] { start(number); });
    return;
  }
  const bool failed = exit.code != 0 && peer.disk_fault.has_value();
  // A stop waits a few seconds for what only this peer knows (lifecycle.h), and another may be down for longer.
  const bool another_is_down =
      std::any_of(peers_.begin(), peers_.end(), [](const SimPeer& other) { return other.status == Status::down; });
  if (failed || (!exit.finished && !peer.leaving && another_is_down)) note_single_copies(peer);
  take_down(number, failed);
  if (failed) return disk_failed(number);
  peer.status = Status::gone;
  // It left with no peer to hand over to, and reported that its records remain on its disk. It is started again after
  // the faults.
  if (peer.leaving && !ending_ && exit.code == 0 && peer.counts.discovered() + peer.counts.outbox > 0)
    peer.restart_after = std::max(start_ + parameters_.faults_end - now_, Duration{}) + alone_wait;
  if (peer.restart_after && exit.code == 0 && !exit.finished) {
    peer.status = Status::down;
    schedule(now_ + *peer.restart_after, [this, number] { start(number); });
  }
  peer.restart_after.reset();
}

// ---- one step ----

// Only the peer's own reads fail, not those of the checkers.
void World::let_reads_fail(SimPeer& peer, bool fail) const {
  if (!peer.reads_left) return;
  if (fail) return peer.kv->fail_reads_after(*peer.reads_left);
  peer.reads_left = peer.kv->reads_left();
  peer.kv->heal_reads();
}

void World::step(std::size_t number, Event event) {
  SimPeer& peer = peers_[number];
  if (peer.status != Status::up || peer.paused || !failures_.empty()) return;
  ++stats_.steps;
  if (++peer.steps % status_every == 0) mix_in_status(peer);
  const bool tick = std::holds_alternative<TickEvent>(event);
  std::string line = "p" + std::to_string(number) + " " + describe(event);
  const auto* const message = std::get_if<MessageEvent>(&event);
  const bool writes = std::holds_alternative<PageDone>(event) ||
                      (message != nullptr && std::holds_alternative<ring::Batch>(message->message.body));
  Commands commands;
  let_reads_fail(peer, true);
  const std::chrono::nanoseconds before = step_clock_ ? step_clock_() : std::chrono::nanoseconds{};
  peer.core->step(clock_of(peer), std::move(event), commands);
  if (step_clock_) note_step_time(step_clock_() - before, line);
  let_reads_fail(peer, false);
  note(line + " -> " + std::to_string(commands.size()));
  trace_.mix_in(std::to_string(peer.kv->digest()));
  peer.counts = peer.store->held();
  look_whether_alone(peer);
  look_whether_whole();
  strike_after_write(peer, writes);
  for (Command& command : commands) {
    if (const auto* exit = std::get_if<Exit>(&command)) return exited(number, *exit);
    carry_out(number, command);
  }
  if (peer.core->stopping() && !peer.cancelled) {
    peer.cancelled = true;
    for (const auto& [job, request] : peer.requests)
      if (!request.over)
        schedule(now_ + stop_patience,
                 [this, number, generation = peer.generation, id = job] { end_fetch(number, generation, id, true); });
  }
  const bool again_at_once = tick && commands.empty() && peer.core->next_deadline(clock_of(peer)) <= clock_of(peer);
  peer.idle_ticks = again_at_once ? peer.idle_ticks + 1 : 0;
  const std::size_t walk_steps = peer.store->counts().discovered() / parameters_.walk_records;
  if (peer.idle_ticks > max_idle_ticks + walk_steps + parameters_.settings.partitions / parameters_.partitions_a_step)
    fail("busy", "peer " + std::to_string(number) + " asks to be called again and again and does nothing");
  set_wake(number);
  occupy(number);
  tell([&](Checker& checker) { checker.stepped(*this, number); });
}

void World::note_step_time(std::chrono::nanoseconds took, const std::string& what) {
  stats_.step_time += took;
  if (took <= stats_.longest_step) return;
  stats_.longest_step = took;
  stats_.longest_step_was = what;
}

void World::set_wake(std::size_t number) {
  SimPeer& peer = peers_[number];
  const Time deadline = std::max(peer.core->next_deadline(clock_of(peer)) - peer.skew, now_ + busy_step);
  if (peer.wake == deadline) return;
  peer.wake = deadline;
  schedule(deadline, [this, number, generation = peer.generation, deadline] {
    SimPeer& woken = peers_[number];
    if (woken.generation != generation || woken.wake != deadline) return;
    woken.wake.reset();
    const auto tick = [this, number] { step(number, TickEvent{}); };
    if (woken.paused || !wait_until_it_goes_on(number, tick)) tick();
  });
}

void World::carry_out(std::size_t number, Command& command) {
  if (const auto* fetch = std::get_if<StartFetch>(&command)) {
    start_fetch(number, *fetch);
  } else if (const auto* stored = std::get_if<ParseRobots>(&command)) {
    parse_robots(number, *stored);
  } else if (const auto* resolve = std::get_if<ResolveHost>(&command)) {
    resolve_host(number, *resolve);
  } else if (const auto* sent = std::get_if<SendMessage>(&command)) {
    const auto to = by_address_.find(sent->address);
    if (to != by_address_.end()) post(number, to->second, std::nullopt, sent->message);
  } else if (const auto* anew = std::get_if<ConnectAnew>(&command)) {
    const auto to = by_address_.find(anew->address);
    if (to != by_address_.end()) stale_.erase({number, to->second, false});
  } else if (const auto* reply = std::get_if<ReplyMessage>(&command)) {
    if (reply->path.route == ask_route) {
      if (const auto* answer = std::get_if<ring::Answer>(&reply->message.body)) note_answer(answer->body);
      return;
    }
    const std::size_t colon = reply->path.route.find(':');
    post(number, std::stoul(reply->path.route.substr(0, colon)), std::stoull(reply->path.route.substr(colon + 1)),
         reply->message);
  } else if (const auto* wanted = std::get_if<MakeCheckpoint>(&command)) {
    make_checkpoint(number, *wanted);
  } else if (const auto* links = std::get_if<RecordLinks>(&command)) {
    trace_.mix_in(links->page.url);
    for (const storage::TraceLink& link : links->page.links) trace_.mix_in(link.url + std::to_string(link.flags));
  } else if (const auto* said = std::get_if<LogEntry>(&command)) {
    std::string text = "  p" + std::to_string(number) + " says: " + std::string(said->event);
    for (const auto& [key, value] : said->fields) text += " " + std::string(key) + "=" + value;
    note(text);
    if (said->event == "mirror" && crawling_) ++stats_.faults["a mirror found"];
    if (said->event == "taken over") took_over(number);
    if (said->event == "owners changed") {
      peers_[number].ring = peers_[number].core->ring().fingerprint();
      if (crawling_) ++stats_.owners_changed;
      tell([&](Checker& checker) { checker.owners_changed(*this, number); });
    }
    if (said->event == "message refused" || said->event == "join refused") ++stats_.messages_refused;
  }
}

bool World::knows_no_seeds(storage::Store& store) {
  const auto seeds = store.meta(meta_name::seeds);
  return seeds && !*seeds;
}

// ---- the run ----

void World::fail(std::string_view checker, const std::string& what) {
  failures_.push_back(std::string(checker) + ": " + what);
  note("FAILED " + failures_.back());
}

bool World::run(Duration until) {
  while (failures_.empty() && !events_.empty() && events_.begin()->first.first <= start_ + until) {
    auto next = events_.extract(events_.begin());
    now_ = next.key().first;
    next.mapped()();
  }
  if (failures_.empty()) now_ = std::max(now_, start_ + until);
  return failures_.empty();
}

bool World::run_to_end() {
  const auto over = [&] {
    return std::all_of(peers_.begin(), peers_.end(), [this](const SimPeer& peer) {
      // Cut off before the seeds came to it; then the other side ended alone.
      const bool waits = ending_ && sides_may_end_alone() && peer.status == Status::up;
      return peer.status == Status::gone || (waits && knows_no_seeds(*peer.store));
    });
  };
  while (failures_.empty() && !events_.empty() && since_start() < parameters_.max_time && !over()) {
    auto next = events_.extract(events_.begin());
    now_ = next.key().first;
    next.mapped()();
  }
  if (failures_.empty() && !over()) {
    std::string status;
    for (const SimPeer& peer : peers_) {
      status += "\n  peer " + std::to_string(peer.number) + ": ";
      status += peer.core == nullptr ? "not up" : peer.core->own_status().dump();
    }
    fail("ends", "the crawl has not ended after " + duration_text(since_start()) + status);
  }
  if (failures_.empty()) tell([&](Checker& checker) { checker.ended(*this); });
  return failures_.empty();
}

}  // namespace orbweaver::sim
