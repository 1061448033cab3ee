// Deeds: what is done to peers, disks and links, and its end.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

// Peers killed together come back one after the other, in a fixed order.
constexpr Duration one_by_one{std::chrono::microseconds{100}};
// The transport's bound of messages that wait for the loop; more are dropped there too.
constexpr std::size_t waiting_messages_max = 4096;
constexpr Duration look_again{std::chrono::seconds{1}};
// Back before the others have given it up.
constexpr Duration killed_back{std::chrono::milliseconds{300}};

}  // namespace

void World::deal(const Deed& deed) {
  if (!failures_.empty()) return;
  if (deed.kind == Deed::Kind::join && ending_) start(deed.peer);  // or does not, it is too late
  if (ending_) return;
  if (!may_happen(deed)) return schedule(now_ + look_again, [this, deed] { deal(deed); });
  if (crawling_)
    ++stats_.deeds[std::string(deed_name(deed.kind)) + (deed.kind == Deed::Kind::ask ? " " + deed.what : "")];
  const auto back = deed.down > Duration{} ? std::optional<Duration>(deed.down) : std::nullopt;
  switch (deed.kind) {
    case Deed::Kind::crash:
      return crash(deed.peer, deed.down);
    case Deed::Kind::crash_all:
      for (SimPeer& peer : peers_) crash(peer.number, deed.down + one_by_one * static_cast<int>(peer.number));
      return;
    case Deed::Kind::stop:
      return stop(deed.peer, deed.down);
    case Deed::Kind::leave:
      return leave(deed.peer, back);
    case Deed::Kind::join:
      return join(deed);
    case Deed::Kind::cut:
    case Deed::Kind::one_way:
    case Deed::Kind::slow:
      return disturb(deed);
    case Deed::Kind::pause:
      return pause(deed.peer, deed.down, deed.tick_last);
    case Deed::Kind::disk_error:
      return break_disk(deed.peer, storage::ErrorKind::io, deed.writes, deed.down);
    case Deed::Kind::disk_full:
      return break_disk(deed.peer, storage::ErrorKind::disk_full, deed.writes, deed.down);
    case Deed::Kind::disk_gone:
      return lose_disk(deed.peer, back);
    case Deed::Kind::power_cut:
      return cut_power(deed.peer, deed.writes, deed.down);
    case Deed::Kind::ask:
    case Deed::Kind::recrawl:
      return put_question(deed);
  }
}

// Of some deeds the contract says nothing before the ring has formed, or when no other member would be left: seeds may
// be on one disk only, whoever leaves hands over to nobody, whoever joins finds nobody.
bool World::may_happen(const Deed& deed) const {
  if (deed.kind == Deed::Kind::join) return a_member(deed.peer).has_value();
  if (deed.is_question()) return crawling_ && peer_with_work(deed.peer) != nullptr;
  if (deed.kind != Deed::Kind::leave && deed.kind != Deed::Kind::disk_gone) return true;
  const SimPeer& peer = peers_[deed.peer];
  if (peer.standing == Standing::gone) return true;  // nothing is done to it
  const bool formed =
      std::all_of(peers_.begin(), peers_.begin() + static_cast<std::ptrdiff_t>(parameters_.peers),
                  [&](const SimPeer& one) { return one.standing == Standing::gone || is_member(one) || one.leaving; });
  if (!crawling_ || !formed || !is_member(peer) || !a_member(deed.peer)) return false;
  if (deed.kind == Deed::Kind::leave) return true;
  const nlohmann::json counts = peer.core->own_status()["counts"];
  return counts["copies_to_fill"] == 0 && counts["partitions_to_hand_over"] == 0;
}

bool World::is_member(const SimPeer& peer) const {
  return peer.standing == Standing::up && !peer.leaving && peer.core->own_status()["state"] == "active";
}

// One that stays in the ring, other than this one.
std::optional<std::size_t> World::a_member(std::size_t other_than) const {
  for (const SimPeer& peer : peers_)
    if (peer.number != other_than && is_member(peer)) return peer.number;
  return std::nullopt;
}

void World::join(const Deed& deed) {
  if (!is_member(peers_[deed.through])) {
    const auto other = a_member(deed.peer);
    peers_[deed.peer].settings.values.join = {peers_[*other].address};
  }
  start(deed.peer);
}

void World::crash(std::size_t number, std::optional<Duration> restart_after) {
  SimPeer& peer = peers_[number];
  if (peer.standing != Standing::up) return;
  note("peer " + std::to_string(number) + " crashes with " + std::to_string(peer.requests.size()) + " in flight");
  ++stats_.crashes;
  // Its worker's page is a suspect. The other pages wait for the worker.
  const auto read = std::find_if(peer.requests.begin(), peer.requests.end(), [](const auto& entry) {
    return entry.second.over && entry.second.kind == RequestKind::page;
  });
  if (read != peer.requests.end()) note_at_work(peer, read->second.url);
  take_down(number);
  if (restart_after) schedule(now_ + *restart_after, [this, number] { start(number); });
}

// A page kills the process that reads it, and no other page is at work.
void World::die_of(std::size_t number, const Request& request) {
  SimPeer& peer = peers_[number];
  note("peer " + std::to_string(number) + " dies of " + request.url);
  ++stats_.crashes;
  ++stats_.deeds["a page that kills"];
  note_at_work(peer, request.url);
  take_down(number);
  schedule(now_ + killed_back, [this, number] { start(number); });
}

void World::note_at_work(SimPeer& peer, const std::string& url) {
  const Result<CanonicalUrl> page = CanonicalUrl::parse(base_of(url));
  if (!page) return;
  const Settings& settings = parameters_.settings;
  Partitioner partitioner(settings.partition_by, settings.partitions);
  peer.at_work = {storage::UrlKey{partitioner.host_key(*page), page->digest()}};
  ++crashes_at_[{peer.number, page->text()}];
}

void World::stop(std::size_t number, std::optional<Duration> restart_after) {
  if (peers_[number].standing != Standing::up) return;
  if (wait_until_it_goes_on(number, [this, number, restart_after] { stop(number, restart_after); })) return;
  peers_[number].restart_after = restart_after;
  peers_[number].leaving = false;  // a stop ends a leave
  step(number, StopEvent{false});
}

void World::leave(std::size_t number, std::optional<Duration> restart_after) {
  if (peers_[number].standing != Standing::up || peers_[number].core->stopping()) return;
  if (wait_until_it_goes_on(number, [this, number, restart_after] { leave(number, restart_after); })) return;
  peers_[number].leaving = true;
  peers_[number].restart_after = restart_after;
  step(number, StopEvent{true});
}

// ---- pauses ----

void World::pause(std::size_t number, Duration lasts, bool tick_last) {
  SimPeer& peer = peers_[number];
  if (peer.standing != Standing::up || peer.paused) return;
  note("peer " + std::to_string(number) + " is paused");
  peer.paused = true;
  schedule(now_ + lasts, [this, number, life = peer.life, tick_last] { go_on(number, life, tick_last); });
}

void World::go_on(std::size_t number, std::uint64_t life, bool tick_last) {
  SimPeer& peer = peers_[number];
  if (peer.life != life || !peer.paused) return;
  peer.paused = false;
  peer.waiting_messages = 0;
  const std::vector<Action> waiting = std::exchange(peer.waiting, {});
  note("peer " + std::to_string(number) + " goes on, " + std::to_string(waiting.size()) + " events waited");
  if (!tick_last) step(number, TickEvent{});
  for (const Action& action : waiting) {
    if (peer.life != life || peer.standing != Standing::up) return;
    action();
  }
  if (tick_last) step(number, TickEvent{});
}

bool World::wait_until_it_goes_on(std::size_t number, Action action) {
  SimPeer& peer = peers_[number];
  if (peer.paused) peer.waiting.push_back(std::move(action));
  return peer.paused;
}

// A message for a paused peer. False: it is not paused.
bool World::wait_in_socket(std::size_t number, Action action) {
  SimPeer& peer = peers_[number];
  if (!peer.paused) return false;
  if (peer.waiting_messages >= waiting_messages_max) {
    ++stats_.messages_lost;
  } else {
    ++peer.waiting_messages;
    peer.waiting.push_back(std::move(action));
  }
  return true;
}

// ---- links ----

void World::disturb(const Deed& deed) {
  const std::uint64_t number = next_disturbance_++;
  disturbances_[number] = deed;
  disturbances_[number].at = since_start();
  note("begins: " + disturbances_[number].text());
  schedule(now_ + deed.down, [this, number] {
    if (disturbances_.erase(number) > 0) note("a disturbance of the network ends");
  });
}

const Deed* World::cut_between(std::size_t from, std::size_t to) const {
  const Deed* last = nullptr;
  for (const auto& [number, deed] : disturbances_) {
    const bool out = deed.side.contains(from) && !deed.side.contains(to);
    const bool in = !deed.side.contains(from) && deed.side.contains(to);
    const bool stops = deed.kind == Deed::Kind::cut ? out || in : deed.kind == Deed::Kind::one_way && out;
    if (stops && (last == nullptr || last->at + last->down < deed.at + deed.down)) last = &deed;
  }
  return last;
}

Duration World::slowness_between(std::size_t from, std::size_t to) const {
  Duration slowness{};
  for (const auto& [number, deed] : disturbances_)
    if (deed.kind == Deed::Kind::slow && deed.side.contains(from) != deed.side.contains(to)) slowness += deed.by;
  return slowness;
}

// ---- disks ----

void World::break_disk(std::size_t number, storage::ErrorKind kind, std::uint64_t after, Duration back) {
  SimPeer& peer = peers_[number];
  if (peer.standing != Standing::up || peer.disk_fault) return;
  note("peer " + std::to_string(number) + ": its disk fails after " + std::to_string(after) + " writes");
  peer.disk_fault = kind;
  peer.disk_back = back;
  peer.kv->fail_after(after, kind);
}

// The peer has ended for its disk's sake. The disk is mended, the peer is started again.
void World::disk_failed(std::size_t number) {
  SimPeer& peer = peers_[number];
  peer.kv->heal();
  peer.disk_fault.reset();
  peer.standing = Standing::down;
  schedule(now_ + peer.disk_back.value_or(Duration{}), [this, number] { start(number); });
}

// What the store holds now, its peer being down.
void World::recount(SimPeer& peer) {
  auto store = storage::Store::open(*peer.kv);
  if (!store) return fail("world", "a store cannot be opened after its disk's loss: " + store.error().message);
  peer.counts = store->counts();
}

void World::lose_disk(std::size_t number, std::optional<Duration> back) {
  SimPeer& peer = peers_[number];
  if (peer.standing != Standing::up) return;
  note("peer " + std::to_string(number) + " dies and its disk is gone");
  ++stats_.crashes;
  take_down(number);
  peer.kv->wipe();
  peer.kv->heal();
  peer.disk_fault.reset();
  ++peer.disks;
  disks_lost_ = true;
  disk_lost_at_ = now_;
  recount(peer);
  if (!back) {
    peer.standing = Standing::gone;
    return;
  }
  peer.wait_for_peers = 1;
  peer.seeds.clear();
  schedule(now_ + *back, [this, number] {
    // Who joined through it, or made the ring, joins through whoever is there.
    const auto other = std::find_if(peers_.begin(), peers_.end(), [&](const SimPeer& one) {
      return one.number != number && one.standing == Standing::up;
    });
    SimPeer& again = peers_[number];
    if (other != peers_.end()) again.settings.values.join = {other->address};
    if (other == peers_.end() || ending_) {
      again.standing = Standing::gone;
    } else {
      start(number);
    }
  });
}

void World::cut_power(std::size_t number, std::uint64_t writes, Duration back) {
  SimPeer& peer = peers_[number];
  if (peer.standing != Standing::up) return;
  crash(number, back);
  if (peer.settings.values.durability == Durability::power) return;
  const std::size_t dropped = peer.kv->drop_unsynced(writes);
  note("peer " + std::to_string(number) + " has lost its last " + std::to_string(dropped) + " writes");
  if (dropped == 0) return;
  disks_lost_ = true;
  recount(peer);
}

void World::heal() {
  if (!disturbances_.empty()) note("the network is whole again");
  disturbances_.clear();
  for (SimPeer& peer : peers_) {
    peer.kv->heal();
    peer.disk_fault.reset();
  }
}

}  // namespace orbweaver::sim
