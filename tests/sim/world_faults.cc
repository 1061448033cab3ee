// Faults: what they do to peers, disks and links, and how they end.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/overloaded.h"
#include "ring/codec.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

// Peers killed together start again one after the other, in a fixed order.
constexpr Duration one_by_one{std::chrono::microseconds{100}};
constexpr Duration look_again{std::chrono::seconds{1}};
// The peer is back before the others declare it down.
constexpr Duration killed_back{std::chrono::milliseconds{300}};

// Says something about records: sends some, takes some, or compares them.
bool of_records(const ring::Message& message) {
  return std::visit(
      [](const auto& body) {
        return one_of<std::decay_t<decltype(body)>, ring::Batch, ring::BatchAck, ring::Roots, ring::RootsCompared,
                      ring::Leaves, ring::LeavesDiffer>;
      },
      message.body);
}

}  // namespace

void World::inject(const Fault& fault) {
  if (!failures_.empty()) return;
  if (fault.kind == Fault::Kind::late_seed) return late_seeds_.push_back(fault);
  if (fault.kind == Fault::Kind::join && ending_) start(fault.peer);  // or does not, when it is too late
  if (ending_) return;
  if (!may_happen(fault)) return schedule(now_ + look_again, [this, fault] { inject(fault); });
  if (crawling_)
    ++stats_.faults[std::string(fault_name(fault.kind)) +
                    (fault.kind == Fault::Kind::ask || fault.kind == Fault::Kind::order ? " " + fault.what : "")];
  if (fault.clock != Duration{})
    for (SimPeer& peer : peers_)
      if (!fault.of_one_peer() || peer.number == fault.peer) peer.clock_step = fault.clock;
  const auto back = fault.down > Duration{} ? std::optional<Duration>(fault.down) : std::nullopt;
  switch (fault.kind) {
    case Fault::Kind::crash:
      return crash(fault.peer, fault.down);
    case Fault::Kind::crash_all:
      for (SimPeer& peer : peers_) crash(peer.number, fault.down + one_by_one * static_cast<int>(peer.number));
      return;
    case Fault::Kind::crash_at:
      return crashes_to_come_.push_back(fault);
    case Fault::Kind::stop:
      return stop(fault.peer, fault.down);
    case Fault::Kind::copy:
      start_copy(fault.peer);
      return;
    case Fault::Kind::leave:
      return leave(fault.peer, back);
    case Fault::Kind::join:
      return join(fault);
    case Fault::Kind::cut:
    case Fault::Kind::one_way:
    case Fault::Kind::slow:
      return disturb(fault);
    case Fault::Kind::pause:
      return pause(fault.peer, fault.down, fault.tick_last);
    case Fault::Kind::disk_error:
      return break_disk(fault.peer, storage::ErrorKind::io, fault.writes, fault.down);
    case Fault::Kind::disk_full:
      return break_disk(fault.peer, storage::ErrorKind::disk_full, fault.writes, fault.down);
    case Fault::Kind::read_error:
      return break_reads(fault.peer, fault.writes, fault.down);
    case Fault::Kind::no_archive:
      return break_archive(fault.peer, fault.writes, fault.down);
    case Fault::Kind::disk_gone:
      return lose_disk(fault.peer, back);
    case Fault::Kind::strike:
      return strike(fault);
    case Fault::Kind::power_cut:
      if (parameters_.settings.durability == Durability::power && fault.writes > 0) {
        peers_[fault.peer].power_fails = fault;
        return;
      }
      if (!fault.what.empty()) return crashes_to_come_.push_back(fault);
      return cut_power(fault.peer, fault.writes, fault.down);
    case Fault::Kind::ask:
    case Fault::Kind::recrawl:
      return put_question(fault);
    case Fault::Kind::order:
      return put_order(fault);
    case Fault::Kind::late_seed:
      return;  // above
  }
}

// Some faults must wait until the ring has formed, or need another member that stays. Before that the contract promises
// nothing: seeds may be on one disk only, a leaver has no peer to hand over to, a joiner finds no peer.
bool World::may_happen(const Fault& fault) const {
  if (fault.kind == Fault::Kind::join) return a_member(fault.peer).has_value();
  if (fault.is_question()) return crawling_ && peer_with_work(fault.peer) != nullptr;
  const bool loses_writes =
      fault.kind == Fault::Kind::power_cut && parameters_.settings.durability == Durability::process;
  if (fault.kind != Fault::Kind::leave && fault.kind != Fault::Kind::disk_gone && fault.kind != Fault::Kind::strike &&
      fault.kind != Fault::Kind::copy && !loses_writes)
    return true;
  const SimPeer& peer = peers_[fault.peer];
  if (peer.status == Status::gone) return true;  // the fault has no effect then
  if (peer.alone && fault.kind != Fault::Kind::leave) return false;
  const bool formed =
      std::all_of(peers_.begin(), peers_.begin() + static_cast<std::ptrdiff_t>(parameters_.peers),
                  [&](const SimPeer& one) { return one.status == Status::gone || is_member(one) || one.leaving; });
  return crawling_ && formed && is_member(peer) && a_member(fault.peer);
}

bool World::is_member(const SimPeer& peer) const {
  return peer.status == Status::up && !peer.leaving && peer.core->is_member();
}

// A member that stays in the ring, other than this one.
std::optional<std::size_t> World::a_member(std::size_t other_than) const {
  for (const SimPeer& peer : peers_)
    if (peer.number != other_than && is_member(peer)) return peer.number;
  return std::nullopt;
}

void World::join(const Fault& fault) {
  if (!is_member(peers_[fault.through])) {
    peers_[fault.peer].through = a_member(fault.peer);
  }
  start(fault.peer);
}

void World::crash(std::size_t number, std::optional<Duration> restart_after) {
  SimPeer& peer = peers_[number];
  if (peer.status != Status::up) return;
  note("peer " + std::to_string(number) + " crashes with " + std::to_string(peer.requests.size()) + " in flight");
  ++stats_.crashes;
  // The page that its worker reads is a suspect. The other pages wait for the worker.
  const auto read = std::find_if(peer.requests.begin(), peer.requests.end(), [](const auto& entry) {
    return entry.second.over && entry.second.kind == RequestKind::page && entry.second.record == 0;
  });
  if (read != peer.requests.end()) note_at_work(peer, read->second.url);
  note_single_copies(peer);
  take_down(number);
  if (restart_after) schedule(now_ + *restart_after, [this, number] { start(number); });
}

// A page kills the process that reads it, and no other page is being read.
void World::die_of(std::size_t number, const Request& request) {
  SimPeer& peer = peers_[number];
  note("peer " + std::to_string(number) + " dies of " + request.url);
  ++stats_.crashes;
  ++stats_.faults["a page that kills"];
  note_at_work(peer, request.url);
  note_single_copies(peer);
  take_down(number);
  schedule(now_ + killed_back, [this, number] { start(number); });
}

storage::UrlKey World::key_of(const CanonicalUrl& page) const {
  Partitioner partitioner(parameters_.settings.partition_by, parameters_.settings.partitions);
  return {partitioner.host_key(page), page.digest()};
}

void World::note_at_work(SimPeer& peer, const std::string& url) {
  const Result<CanonicalUrl> page = CanonicalUrl::parse(base_of(url));
  if (!page) return;
  peer.at_work = {key_of(*page)};
  ++crashes_at_[{peer.number, page->text()}];
}

// A page with very many links counts with its last piece.
bool World::outcome_written(const SimPeer& peer, const Request& request) const {
  const Result<CanonicalUrl> page = CanonicalUrl::parse(base_of(request.url));
  if (!page || !peer.store) return true;
  const auto record = peer.store->find(key_of(*page));
  return record && *record && (*record)->state != storage::UrlState::queued;
}

void World::stop(std::size_t number, std::optional<Duration> restart_after) {
  if (peers_[number].status != Status::up) return;
  if (wait_until_it_goes_on(number, [this, number, restart_after] { stop(number, restart_after); })) return;
  peers_[number].restart_after = restart_after;
  if (!peers_[number].core->ending()) peers_[number].leaving = false;  // a stop ends a leave
  step(number, StopEvent{false});
}

void World::leave(std::size_t number, std::optional<Duration> restart_after) {
  if (peers_[number].status != Status::up || peers_[number].core->stopping()) return;
  if (wait_until_it_goes_on(number, [this, number, restart_after] { leave(number, restart_after); })) return;
  peers_[number].leaving = true;
  peers_[number].restart_after = restart_after;
  step(number, StopEvent{true});
}

// ---- links ----

void World::disturb(const Fault& fault) {
  const std::uint64_t number = next_disturbance_++;
  disturbances_[number] = fault;
  disturbances_[number].at = since_start();
  note("begins: " + disturbances_[number].text());
  schedule(now_ + fault.down, [this, number] {
    const auto ended = disturbances_.extract(number);
    if (ended.empty()) return;
    note("a disturbance of the network ends");
    leave_connections_stale(ended.mapped());
  });
}

void World::leave_connections_stale(const Fault& cut) {
  if (cut.kind == Fault::Kind::slow || cut.held || parameters_.stale_connections == Duration{}) return;
  for (std::size_t from = 0; from < peers_.size(); ++from) {
    for (std::size_t to = 0; to < peers_.size(); ++to) {
      const bool out = cut.side.contains(from);
      const bool stopped = out != cut.side.contains(to) && (out || cut.kind == Fault::Kind::cut);
      if (stopped) stale_[{from, to, false}] = now_ + parameters_.stale_connections;
    }
  }
}

// A process that begins has no connections yet, and those to the one before it are closed.
void World::forget_connections(std::size_t number) {
  std::erase_if(stale_, [number](const auto& entry) { return entry.first.from == number || entry.first.to == number; });
}

const Fault* World::cut_between(std::size_t from, std::size_t to) const {
  const Fault* last = nullptr;
  for (const auto& [number, fault] : disturbances_) {
    const bool out = fault.side.contains(from) && !fault.side.contains(to);
    const bool in = !fault.side.contains(from) && fault.side.contains(to);
    const bool stops = fault.kind == Fault::Kind::cut ? out || in : fault.kind == Fault::Kind::one_way && out;
    if (stops && (last == nullptr || last->at + last->down < fault.at + fault.down)) last = &fault;
  }
  return last;
}

Duration World::slowness_between(std::size_t from, std::size_t to) const {
  Duration slowness{};
  for (const auto& [number, fault] : disturbances_)
    if (fault.kind == Fault::Kind::slow && fault.side.contains(from) != fault.side.contains(to)) slowness += fault.by;
  return slowness;
}

// ---- disks ----

void World::break_disk(std::size_t number, storage::ErrorKind kind, std::uint64_t after, Duration back) {
  SimPeer& peer = peers_[number];
  if (peer.status != Status::up || peer.disk_fault) return;
  note("peer " + std::to_string(number) + ": its disk fails after " + std::to_string(after) + " writes");
  peer.disk_fault = kind;
  peer.disk_back = back;
  peer.kv->fail_after(after, kind);
}

void World::break_reads(std::size_t number, std::uint64_t after, Duration back) {
  SimPeer& peer = peers_[number];
  if (peer.status != Status::up || peer.disk_fault) return;
  note("peer " + std::to_string(number) + ": its disk fails after " + std::to_string(after) + " reads");
  peer.disk_fault = storage::ErrorKind::io;
  peer.disk_back = back;
  peer.reads_left = after;
}

void World::break_archive(std::size_t number, std::uint64_t after, Duration back) {
  SimPeer& peer = peers_[number];
  if (peer.status != Status::up || peer.disk_fault) return;
  note("peer " + std::to_string(number) + ": its archive fails after " + std::to_string(after) + " answers");
  peer.disk_fault = storage::ErrorKind::io;
  peer.disk_back = back;
  peer.archive_left = after;
}

// The peer has exited because its disk failed. The disk is repaired and the peer started again.
void World::disk_failed(std::size_t number) {
  SimPeer& peer = peers_[number];
  peer.kv->heal();
  peer.disk_fault.reset();
  peer.reads_left.reset();
  peer.archive_left.reset();
  peer.status = Status::down;
  schedule(now_ + peer.disk_back.value_or(Duration{}), [this, number] { start(number); });
}

// From the proposal on, those that have agreed keep what they have as it is.
void World::note_end(ring::EndStage stage) {
  if (stage == ring::EndStage::taken_back) end_proposed_at_.reset();
  if (stage == ring::EndStage::proposed && !end_proposed_at_) end_proposed_at_ = now_;
}

void World::end_copy(std::size_t number) {
  if (peers_[number].status != Status::up) return;
  take_down(number);
  peers_[number].status = Status::gone;
  peers_[number].kv->wipe();
  recount(peers_[number]);
}

// Counts the content of the store of a peer that is down.
void World::recount(SimPeer& peer) {
  auto store = storage::Store::open(*peer.kv);
  if (!store) return fail("world", "a store cannot be opened after its disk's loss: " + store.error().message);
  peer.counts = store->counts();
}

void World::lose_disk(std::size_t number, std::optional<Duration> back) {
  SimPeer& peer = peers_[number];
  if (peer.status != Status::up) return;
  note("peer " + std::to_string(number) + " dies and its disk is gone");
  ++stats_.crashes;
  note_single_copies(peer);
  without_disk_.insert(peer.core->id());
  take_down(number);
  peer.kv->wipe();
  peer.kv->heal();
  peer.disk_fault.reset();
  peer.reads_left.reset();
  peer.archive_left.reset();
  ++peer.disks;
  disks_lost_ = copies_may_lack_ = true;
  disk_lost_at_ = now_;
  recount(peer);
  if (!back) {
    peer.status = Status::gone;
    return;
  }
  peer.wait_for_peers = 1;
  peer.seeds.clear();
  schedule(now_ + *back, [this, number] {
    // A peer that joined through it, or made the ring, joins through any peer that is up.
    const auto other = std::find_if(peers_.begin(), peers_.end(), [&](const SimPeer& one) {
      return one.number != number && one.status == Status::up;
    });
    SimPeer& again = peers_[number];
    if (other != peers_.end()) again.through = other->number;
    if (other == peers_.end() || ending_) {
      again.status = Status::gone;
    } else {
      start(number);
    }
  });
}

void World::crash_after_send(std::size_t from, const ring::Message& message) {
  for (auto at = crashes_to_come_.begin(); at != crashes_to_come_.end(); ++at) {
    if (!at->side.empty() && !at->side.contains(from)) continue;
    if (at->of_one_peer() && at->peer != from) continue;
    if (ring::type_name(message.body) != at->what || --at->sends > 0) continue;
    schedule(now_, [this, from, life = peers_[from].generation, fault = *at] {
      if (peers_[from].generation != life || ending_) return;
      if (fault.kind == Fault::Kind::power_cut) return cut_power(from, fault.writes, fault.down);
      crash(from, fault.down);
    });
    crashes_to_come_.erase(at);
    return;
  }
}

// The peer is killed when it has written, and before it could say so; and its disk is lost when it has begun again to
// say what it has.
void World::strike(const Fault& fault) {
  SimPeer& peer = peers_[fault.peer];
  if (peer.status == Status::up && !peer.strike) peer.strike = fault;
}

void World::strike_after_write(SimPeer& peer, bool wrote) {
  if (!peer.strike || peer.mute || peer.generation == peer.strike_life || !wrote) return;
  if (peer.strike->writes > 0) {
    --peer.strike->writes;
    return;
  }
  peer.mute = true;
  peer.strike_life = peer.generation + 1;
  schedule(now_, [this, number = peer.number, life = peer.generation, back = peer.strike->by] {
    if (peers_[number].generation == life) crash(number, back);
  });
}

void World::strike_after_send(SimPeer& peer, const ring::Message& message) {
  if (!peer.strike || peer.generation != peer.strike_life) return;
  const std::string& counted = peer.strike->what;
  if (counted.empty() ? !of_records(message) : ring::type_name(message.body) != counted) return;
  if (peer.strike->sends > 0) --peer.strike->sends;
  if (peer.strike->sends > 0) return;
  const Fault fault = *std::exchange(peer.strike, std::nullopt);
  schedule(now_, [this, fault, life = peer.generation] {
    const SimPeer& struck = peers_[fault.peer];
    if (struck.generation == life && !ending_ && !struck.alone && a_member(fault.peer))
      lose_disk(fault.peer, fault.down > Duration{} ? std::optional(fault.down) : std::nullopt);
  });
}

void World::cut_power(std::size_t number, std::uint64_t writes, Duration back) {
  SimPeer& peer = peers_[number];
  if (peer.status != Status::up) return;
  crash(number, back);
  if (peer.settings.values.durability == Durability::power) {
    const std::size_t lost = peer.archive->cut_power();
    note("peer " + std::to_string(number) + " has lost " + std::to_string(lost) + " unsynced records of its archive");
    if (lost > 0) ++stats_.faults["a power cut that takes records of an archive"];
    return;
  }
  const std::size_t dropped = peer.kv->drop_unsynced(writes);
  note("peer " + std::to_string(number) + " has lost its last " + std::to_string(dropped) + " writes");
  if (dropped == 0) return;
  disks_lost_ = copies_may_lack_ = peer.forgot_writes = true;
  recount(peer);
}

void World::heal() {
  if (!disturbances_.empty()) note("the network is whole again");
  disturbances_.clear();
  stale_.clear();
  for (SimPeer& peer : peers_) {
    peer.kv->heal();
    peer.disk_fault.reset();
    peer.reads_left.reset();
    peer.archive_left.reset();
  }
}

}  // namespace orbweaver::sim
