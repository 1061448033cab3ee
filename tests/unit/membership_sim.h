// A small deterministic world for Membership: simulated time, and a network that delays, drops and cuts, from one seed.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ring/codec.h"
#include "ring/md5.h"
#include "ring/membership.h"

namespace orbweaver::ring {

inline PeerId sim_id(std::size_t number) {
  static std::map<std::size_t, PeerId> made;
  const auto [at, added] = made.try_emplace(number);
  if (added) at->second.bytes = md5("sim peer " + std::to_string(number));
  return at->second;
}

inline Member sim_member(std::size_t number, std::uint64_t incarnation) {
  Member member;
  member.id = sim_id(number);
  member.address = "10.0.0." + std::to_string(number) + ":7400";
  member.incarnation = incarnation;
  member.state = MemberState::active;
  return member;
}

struct SimPeer {
  std::unique_ptr<Membership> membership;
  bool alive = true;
  bool paused = false;
  Duration late{};  // it handles messages up to this much late, at least half of it; its timers run on time
  std::vector<std::pair<std::size_t, Body>> waiting;  // messages that arrived while it was paused
};

class Sim {
 public:
  explicit Sim(std::uint64_t seed) : random_(seed) {}

  double loss = 0;
  Duration delay_min{std::chrono::milliseconds(1)};
  Duration max_delay{std::chrono::milliseconds(20)};
  std::function<bool(std::size_t from, std::size_t to)> is_cut = [](std::size_t, std::size_t) { return false; };
  std::function<void()> after_step = [] {};  // a checker, called when the view of any peer changed
  MembershipConfig config;

  std::vector<SimPeer> peers;
  Time now{std::chrono::seconds(1'700'000'000)};
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t transcript = 0;  // a hash of all events

  void start(std::size_t number) {
    if (peers.size() <= number) peers.resize(number + 1);
    const auto incarnation = static_cast<std::uint64_t>(now.time_since_epoch().count());
    SimPeer& peer = peers[number];
    peer = SimPeer{};
    peer.membership = std::make_unique<Membership>(sim_member(number, incarnation), config, random_());
  }
  // Join and Welcome, which are the task of Membership's owner.
  void join(std::size_t number, std::size_t contact) {
    start(number);
    peers[contact].membership->merge({peers[number].membership->self()}, now);
    peers[number].membership->merge(peers[contact].membership->member_list(), now);
  }
  void make_ring(std::size_t count) {
    start(0);
    for (std::size_t i = 1; i < count; ++i) join(i, 0);
  }
  void kill(std::size_t number) { peers[number].alive = false; }
  void pause(std::size_t number) { peers[number].paused = true; }
  void resume(std::size_t number) {
    SimPeer& peer = peers[number];
    peer.paused = false;
    const auto waiting = std::exchange(peer.waiting, {});
    for (const auto& [from, body] : waiting) receive(number, from, body);
  }

  bool runs(std::size_t number) const { return peers[number].alive && !peers[number].paused; }

  void run_for(Duration span) {
    run_until(span, [] { return false; });
  }
  // Returns the time it took, or more than `limit`.
  Duration run_until(Duration limit, const std::function<bool()>& done) {
    const Time begin = now;
    while (!done()) {
      Time next = flying_.empty() ? Time::max() : flying_.begin()->first.first;
      for (std::size_t i = 0; i < peers.size(); ++i) {
        if (runs(i)) next = std::min(next, peers[i].membership->next_deadline());
      }
      next = std::max(next, now);
      if (next > begin + limit) {
        now = begin + limit;
        return limit + Duration(1);
      }
      now = next;
      step();
      std::uint64_t versions = 0;
      for (const SimPeer& peer : peers) versions += peer.membership->version();
      if (std::exchange(versions_, versions) != versions) after_step();
    }
    return now - begin;
  }

  // All living peers know the same members: all of them, active and not suspected.
  bool agreed() const {
    std::size_t alive = 0;
    for (const SimPeer& peer : peers) alive += peer.alive ? 1 : 0;
    std::uint64_t fingerprint = 0;
    for (const SimPeer& peer : peers) {
      if (!peer.alive) continue;
      if (fingerprint == 0) fingerprint = peer.membership->fingerprint();
      if (peer.membership->fingerprint() != fingerprint) return false;
      const auto& members = peer.membership->members();
      const auto well = [](const auto& entry) {
        return entry.second.state == MemberState::active && !entry.second.suspect;
      };
      if (static_cast<std::size_t>(std::count_if(members.begin(), members.end(), well)) != alive) return false;
    }
    return true;
  }
  // All living peers but `number` see it in that state.
  bool all_see(std::size_t number, MemberState state) const {
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (i == number || !peers[i].alive) continue;
      const Member* seen = peers[i].membership->find(sim_id(number));
      if (seen == nullptr || seen->state != state) return false;
    }
    return true;
  }
  // The cases in which a living peer has another living peer down: (observer, observed).
  std::vector<std::pair<std::size_t, std::size_t>> buried_alive() const {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      for (std::size_t j = 0; j < peers.size(); ++j) {
        if (!peers[i].alive || !peers[j].alive) continue;
        const Member* seen = peers[i].membership->find(sim_id(j));
        if (seen != nullptr && seen->state == MemberState::down) found.emplace_back(i, j);
      }
    }
    return found;
  }

 private:
  struct Flight {
    std::size_t from;
    std::size_t to;
    Body body;
  };

  void step() {
    while (!flying_.empty() && flying_.begin()->first.first <= now) {
      const Flight flight = std::move(flying_.begin()->second);
      flying_.erase(flying_.begin());
      SimPeer& peer = peers[flight.to];
      if (!peer.alive) continue;
      if (peer.paused) {
        peer.waiting.emplace_back(flight.from, flight.body);
      } else {
        receive(flight.to, flight.from, flight.body);
      }
    }
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (!runs(i) || peers[i].membership->next_deadline() > now) continue;
      std::vector<Send> out;
      peers[i].membership->tick(now, out);
      send_all(i, out);
    }
  }

  void receive(std::size_t to, std::size_t from, const Body& body) {
    Membership& membership = *peers[to].membership;
    std::vector<Send> out;
    membership.heard_from(sim_id(from), peers[from].membership->self().incarnation, now);
    if (const auto* ping = std::get_if<Ping>(&body)) membership.on_ping(sim_id(from), *ping, now, out);
    if (const auto* request = std::get_if<PingRequest>(&body))
      membership.on_ping_request(sim_id(from), *request, now, out);
    if (const auto* ack = std::get_if<PingAck>(&body)) membership.on_ping_ack(sim_id(from), *ack, now, out);
    if (const auto* sync = std::get_if<Sync>(&body)) {
      membership.merge(sync->members, now);
      if (sync->reply_wanted) out.push_back({sim_id(from), {}, membership.answer(*sync)});
    }
    send_all(to, out);
  }

  void send_all(std::size_t from, const std::vector<Send>& out) {
    for (const Send& send : out) {
      const std::string encoded = encode(Message{protocol_version, {}, sim_id(from), 1, send.body});
      ++messages;
      bytes += encoded.size();
      transcript =
          leading_bits(md5(std::to_string(transcript) + encoded + std::to_string(now.time_since_epoch().count())));
      const std::size_t to = number_of(send.to);
      const bool lost = std::uniform_real_distribution<>(0, 1)(random_) < loss;
      const auto spread = static_cast<std::uint64_t>((max_delay - delay_min).count()) + 1;
      const Duration delay = delay_min + Duration(static_cast<Duration::rep>(random_() % spread));
      if (lost || is_cut(from, to)) continue;
      flying_.emplace(std::make_pair(now + delay + lateness(peers[to].late), ++order_), Flight{from, to, send.body});
    }
  }

  Duration lateness(Duration most) {
    if (most == Duration{}) return {};
    return most / 2 + Duration(static_cast<Duration::rep>(random_() % static_cast<std::uint64_t>(most.count() / 2)));
  }

  std::size_t number_of(const PeerId& id) {
    if (number_of_.size() < peers.size()) {
      for (std::size_t i = number_of_.size(); i < peers.size(); ++i) number_of_[sim_id(i)] = i;
    }
    return number_of_.at(id);
  }

  std::mt19937_64 random_;
  std::map<std::pair<Time, std::uint64_t>, Flight> flying_;
  std::map<PeerId, std::size_t> number_of_;
  std::uint64_t order_ = 0;
  std::uint64_t versions_ = 0;
};

}  // namespace orbweaver::ring
