#include "tests/sim/draw_power.h"

#include <algorithm>

#include "tests/sim/draw_hand_offs.h"

namespace orbweaver::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

bool any_of_kinds(const Parameters& p, std::initializer_list<Fault::Kind> kinds) {
  return std::any_of(p.faults.begin(), p.faults.end(), [&](const Fault& fault) {
    return std::find(kinds.begin(), kinds.end(), fault.kind) != kinds.end();
  });
}

// Under durability = process one machine's power fails, and with it goes what was written last.
void draw_unsynced(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0xf9c7));
  if (!which.chance(150) || !kinds.power_cut || p.peers < 2 || p.calm()) return;
  // One disk at most, as everywhere; and a seed that only a lost disk contained is lost for the ring.
  using enum Fault::Kind;
  if (any_of_kinds(p, {disk_gone, strike, power_cut, late_seed, ask, recrawl})) return;
  Random random(mix(seed) ^ mix(0xf9c7));
  p.settings.replicas = std::max(p.settings.replicas, 2u);
  if (p.settings.delay > Duration{})
    p.settings.delay = random.pick({Duration{milliseconds{100}}, Duration{seconds{1}}});
  p.faults_end = std::max(p.faults_end, random.between(Duration{seconds{6}}, Duration{seconds{20}}));
  Fault fault;
  fault.kind = power_cut;
  fault.peer = random.below(p.peers);
  fault.at = random.between(Duration{seconds{2}}, p.faults_end);
  fault.writes = random.pick({1U, 4U, 16U, 64U, 256U});
  fault.down = random.chance(700)
                   ? random.between(Duration{milliseconds{5}}, Duration{seconds{1}})
                   : p.settings.suspicion_time + random.between(Duration{seconds{1}}, Duration{seconds{8}});
  p.faults.push_back(fault);
}

// A newcomer's power fails when it has said that it has all of some partitions. That it holds them it hears later: what
// it said may be true no longer.
void draw_unsynced_newcomer(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random random(mix(seed) ^ mix(0x2e3c));
  if (!random.chance(80) || !kinds.power_cut || !kinds.members || !kinds.hand_offs || p.peers < 2 || p.calm()) return;
  if (p.settings.delay == Duration{}) return;
  using enum Fault::Kind;
  if (any_of_kinds(p, {disk_gone, strike, power_cut, late_seed, ask, recrawl})) return;
  make_it_last(random, p);
  p.settings.replicas = std::max(p.settings.replicas, 2u);
  p.settings.delay = random.pick({Duration{seconds{1}}, Duration{seconds{3}}});
  p.settings.max_link_cache_entries = 0;
  Fault fault;
  fault.kind = power_cut;
  fault.at = random.between(Duration{seconds{3}}, Duration{seconds{8}});
  fault.peer = draw_join(random, p, fault.at);
  fault.down = random.between(Duration{milliseconds{5}}, Duration{milliseconds{300}});
  fault.writes = random.pick({4U, 16U, 64U, 256U});
  fault.what = "roots_compared";
  fault.sends = random.between(1, 6);
  p.faults_end = std::max(p.faults_end, fault.at + seconds{4});
  p.faults.push_back(std::move(fault));
}

// An archive may fail when the store's disk does not: it may be on another one.
void draw_archive_errors(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0xa7c1));
  if (!which.chance(60) || !kinds.disks || p.calm()) return;
  Random random(mix(seed) ^ mix(0xa7c1));
  Fault fault;
  fault.kind = Fault::Kind::no_archive;
  fault.peer = random.below(p.peers);
  fault.at = random.between(Duration{seconds{1}}, p.faults_end);
  fault.down = random.between(Duration{milliseconds{50}}, Duration{seconds{4}});
  fault.writes = random.below(12);
  p.faults.push_back(std::move(fault));
}

// Under durability = power some machines' power fails, and with it goes what their archives have not synced.
void draw_unsynced_archives(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0xd15c));
  // Calm seeds stay calm: they are checked against the contract to the letter.
  if (!which.chance(150) || !kinds.archives || any_of_kinds(p, {Fault::Kind::power_cut}) || p.calm()) return;
  Random random(mix(seed) ^ mix(0xd15c));
  p.settings.durability = Durability::power;
  p.max_sync = random.pick({Duration{milliseconds{1}}, Duration{milliseconds{20}}, Duration{milliseconds{300}}});
  if (random.chance(500)) p.settings.delay = random.pick({Duration{milliseconds{100}}, Duration{seconds{1}}});
  p.faults_end = std::max(p.faults_end, random.between(Duration{seconds{6}}, Duration{seconds{20}}));
  for (std::uint64_t left = random.between(1, 4); left > 0; --left) {
    Fault fault;
    fault.kind = Fault::Kind::power_cut;
    fault.at = random.between(Duration{seconds{2}}, p.faults_end);
    const bool of_all = random.chance(300);
    if (!of_all) fault.writes = random.between(0, 6);
    const std::size_t one = random.below(p.peers);
    for (std::size_t peer = 0; peer < p.peers; ++peer) {
      if (!of_all && peer != one) continue;
      fault.peer = peer;
      fault.down = random.between(Duration{milliseconds{5}}, Duration{seconds{1}});
      p.faults.push_back(fault);
    }
  }
}

}  // namespace

void draw_power(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  draw_unsynced(seed, p, kinds);
  draw_unsynced_newcomer(seed, p, kinds);
  draw_unsynced_archives(seed, p, kinds);
  draw_archive_errors(seed, p, kinds);
}

}  // namespace orbweaver::sim
