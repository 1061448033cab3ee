#include "tests/sim/draw_power.h"

#include <algorithm>

#include "tests/sim/random.h"

namespace orbweaver::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

void draw_power(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0xd15c));
  // Cuts that are to take what durability = process leaves unsynced.
  const bool others = std::any_of(p.faults.begin(), p.faults.end(),
                                  [](const Fault& fault) { return fault.kind == Fault::Kind::power_cut; });
  // Calm seeds stay calm: they are checked against the contract to the letter.
  if (!which.chance(150) || !kinds.archives || others || p.calm()) return;
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

}  // namespace orbweaver::sim
