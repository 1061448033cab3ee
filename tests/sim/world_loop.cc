// A live peer's loop: it takes its events one after the other, as node/process/peer_process.cc does. While a step
// lasts, or the process is stopped, events wait in two lanes (node/process/event_queue.h), and messages that do not fit
// are dropped.
#include <algorithm>

#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

// Of messages that wait; the transport drops further ones too.
constexpr std::size_t max_waiting_messages = 4096;
// One step in so many takes much longer than the others.
constexpr std::uint32_t long_steps = 5;  // per mille
constexpr int long_step = 10;            // times as long

}  // namespace

void World::pause(std::size_t number, Duration lasts, bool tick_last) {
  SimPeer& peer = peers_[number];
  if (peer.status != Status::up || peer.paused) return;
  note("peer " + std::to_string(number) + " is paused");
  peer.paused = true;
  peer.paused_at = now_;
  schedule(now_ + lasts,
           [this, number, generation = peer.generation, tick_last] { go_on(number, generation, tick_last); });
}

void World::go_on(std::size_t number, std::uint64_t generation, bool tick_last) {
  SimPeer& peer = peers_[number];
  if (peer.generation != generation || !peer.paused) return;
  peer.paused = false;
  peer.went_on = now_;
  note("peer " + std::to_string(number) + " goes on, " + std::to_string(peer.waiting.size()) + " events waited");
  SimPeer::Waiting tick{.deliver = [this, number] { step(number, TickEvent{}); }};
  tick_last ? peer.waiting.push_back(std::move(tick)) : peer.waiting.push_front(std::move(tick));
  take_turn(number, generation);
}

bool World::is_busy(const SimPeer& peer) const {
  return parameters_.max_step > Duration{} && !peer.in_turn && (now_ < peer.busy_until || !peer.waiting.empty());
}

// The step that has just been made takes its time.
void World::occupy(std::size_t number) {
  SimPeer& peer = peers_[number];
  if (parameters_.max_step == Duration{} || peer.status != Status::up) return;
  Duration takes = random_.between(Duration{}, parameters_.max_step);
  if (random_.chance(long_steps)) takes *= long_step;
  peer.busy_until = std::max(now_, peer.busy_until) + takes;
  schedule(peer.busy_until, [this, number, generation = peer.generation] { take_turn(number, generation); });
}

// Delivers what waited: probes first, else in order.
void World::take_turn(std::size_t number, std::uint64_t generation) {
  const auto ready = [&] {
    const SimPeer& peer = peers_[number];
    return peer.generation == generation && peer.status == Status::up && !peer.paused && !peer.waiting.empty() &&
           now_ >= peer.busy_until;
  };
  while (ready()) {
    SimPeer& peer = peers_[number];
    auto next = peer.waiting.begin();
    if (parameters_.max_step > Duration{})
      next = std::find_if(next, peer.waiting.end(), [](const SimPeer::Waiting& waiting) { return waiting.probe; });
    if (next == peer.waiting.end()) next = peer.waiting.begin();
    const SimPeer::Waiting taken = std::move(*next);
    peer.waiting.erase(next);
    if (taken.bytes > 0) --peer.waiting_messages;
    if (!taken.probe) peer.waiting_bytes -= taken.bytes;
    peer.in_turn = true;
    taken.deliver();
    peers_[number].in_turn = false;
  }
}

bool World::wait_until_it_goes_on(std::size_t number, Action action) {
  SimPeer& peer = peers_[number];
  if (!peer.paused && !is_busy(peer)) return false;
  peer.waiting.push_back({.deliver = std::move(action)});
  return true;
}

// Delivers a message to a peer that is paused or busy. False: it is neither.
bool World::wait_in_queue(std::size_t number, bool probe, std::size_t bytes, Action action) {
  SimPeer& peer = peers_[number];
  if (!peer.paused && !is_busy(peer)) return false;
  const std::size_t most = parameters_.queue_bytes;
  // The largest messages get in too: what a full queue cannot take waits at the sender, and comes before what is later.
  const bool fits = probe || most == 0 || peer.waiting_bytes + std::min(bytes, most / 2) <= most;
  if (!fits || peer.waiting_messages >= max_waiting_messages) {
    ++stats_.messages_lost;
    if (!fits) note("  lost: the queue of p" + std::to_string(number) + " is full");
    return true;
  }
  ++peer.waiting_messages;
  if (!probe) peer.waiting_bytes += bytes;
  peer.waiting.push_back({.deliver = std::move(action), .probe = probe, .bytes = bytes});
  return true;
}

}  // namespace orbweaver::sim
