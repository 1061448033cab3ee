#include "tests/sim/draw_hand_offs.h"

#include <algorithm>

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Of `who`, or of whoever sends it.
void draw_crash_at(Random& random, Parameters& p, const std::string& what, Duration at, Duration down,
                   std::set<std::size_t> who = {}) {
  Fault crash;
  crash.kind = Fault::Kind::crash_at;
  crash.side = std::move(who);
  crash.what = what;
  crash.at = at;
  crash.down = down;
  crash.sends = random.between(1, 2 * p.peers);
  p.faults_end = std::max(p.faults_end, at + seconds{1});
  p.faults.push_back(std::move(crash));
}

// A peer dies while it hands its partitions to a newcomer, or to one that was down for long. That one takes them over
// and lacks most of what was done. What others have comes late, after its hosts' waits. It may be killed too, when it
// has asked for it.
void draw_newcomer(Random random, Parameters& p) {
  make_it_last(random, p);
  p.settings.replicas = std::max(p.settings.replicas, 2u);
  p.settings.suspicion_time = random.pick({Duration{seconds{2}}, Duration{seconds{4}}});
  p.settings.max_link_cache_entries = 0;
  p.leaves_from = random.pick({std::size_t{1}, std::size_t{4}});
  p.network.loss = p.network.doubled = p.network.reordered = 0;
  p.two_connections = true;
  p.max_answer_lag = random.pick({Duration{milliseconds{600}}, Duration{seconds{1}}});
  // With one record at a time, each of which takes so long, nothing would end.
  p.settings.max_batch_records = 1024;
  p.settings.max_batches_in_flight = 4;
  p.settings.max_outbox_records_in_memory = 65536;
  p.settings.batch_timeout = seconds{5};
  const auto death = [&] {
    return p.settings.suspicion_time + random.between(Duration{seconds{2}}, Duration{seconds{8}});
  };
  Duration at = random.between(Duration{seconds{3}}, Duration{seconds{10}});
  std::size_t newcomer = p.peers;
  if (p.peers > 2 && random.chance(600)) {
    Fault crash;
    crash.peer = newcomer = random.below(p.peers);
    crash.at = at;
    crash.down = death();
    at += crash.down;
    p.faults.push_back(std::move(crash));
  } else {
    newcomer = draw_join(random, p, at);
  }
  draw_crash_at(random, p, "leaves", at, death());
  if (random.chance(300)) return;
  draw_crash_at(random, p, "ask_records", at + p.settings.suspicion_time,
                random.between(Duration{milliseconds{20}}, Duration{milliseconds{500}}), {newcomer});
  if (random.chance(700)) p.faults.back().sends = 1;
}

// Answers overtake each other while partitions with news are handed to newcomers, each in several passes.
void draw_late_comparisons(Random random, Parameters& p) {
  make_it_last(random, p);
  p.settings.suspicion_time = seconds{10};
  p.settings.max_batch_records = std::max(p.settings.max_batch_records, 16u);
  p.settings.max_outbox_records_in_memory = 65536;
  p.settings.max_link_cache_entries = 0;
  p.network.reordered = random.pick({100U, 300U});
  p.network.max_late = random.pick({Duration{milliseconds{300}}, Duration{seconds{1}}, Duration{seconds{3}}});
  p.leaves_from = 1;
  for (std::uint64_t left = random.between(1, 3); left > 0; --left) {
    const Duration at = random.between(Duration{seconds{2}}, Duration{seconds{8}});
    draw_join(random, p, at);
    p.faults_end = std::max(p.faults_end, at + seconds{6});
  }
}

// Hosts change hands while they wait to ask for a robots.txt that has moved.
void draw_robots_on_the_move(Random random, Parameters& p) {
  p.settings.delay = seconds{3};
  p.web.moved_robots = 7;
  p.web.robots_elsewhere = random.chance(300);
  for (std::uint64_t left = random.between(1, 3); left > 0; --left)
    draw_join(random, p, random.between(Duration{milliseconds{500}}, Duration{seconds{8}}));
}

}  // namespace

std::size_t draw_join(Random& random, Parameters& p, Duration at) {
  Fault join;
  join.kind = Fault::Kind::join;
  join.peer = p.peers_in_all();
  join.through = random.below(p.peers);
  join.at = at;
  p.faults.push_back(join);
  return join.peer;
}

void make_it_last(Random& random, Parameters& p) {
  p.settings.scope = ScopeKind::any;
  p.settings.max_pages = 0;
  p.settings.max_depth = 0;
  p.settings.partitions = 16;
  if (p.settings.delay > Duration{})
    p.settings.delay = random.pick({Duration{milliseconds{100}}, Duration{milliseconds{300}}});
  if (p.web.chain) return;
  p.web.hosts = std::max(p.web.hosts, 12u);
  p.web.pages_per_host = std::max(p.web.pages_per_host, 60u);
  p.web.links_per_page = std::max(p.web.links_per_page, 4u);
  p.web.away = std::max(p.web.away, 500u);
}

void draw_hand_offs(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0x4a0d));
  const bool newcomer = which.chance(180);
  const bool late = which.chance(80);
  const bool robots = which.chance(500);
  if (p.calm() || !kinds.members || !kinds.hand_offs) return;
  const auto source = [&](std::uint64_t kind) { return Random(mix(seed) ^ mix(kind)); };
  if (newcomer && kinds.deaths && p.peers > 1) draw_newcomer(source(51), p);
  if (late && kinds.connections) draw_late_comparisons(source(52), p);
  if (robots && p.web.robots_redirects && p.settings.robots && p.settings.delay > Duration{})
    draw_robots_on_the_move(source(53), p);
}

}  // namespace orbweaver::sim
