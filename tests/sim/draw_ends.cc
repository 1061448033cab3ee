#include "tests/sim/draw_ends.h"

#include <algorithm>

#include "tests/sim/draw_power.h"
#include "tests/sim/draw_work.h"
#include "tests/sim/random.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool any_disk_is_lost(const Parameters& p) {
  return std::any_of(p.faults.begin(), p.faults.end(), [](const Fault& fault) {
    return fault.kind == Fault::Kind::disk_gone || fault.kind == Fault::Kind::strike ||
           fault.kind == Fault::Kind::power_cut;
  });
}

// A command's seed between the last waves, while the end is agreed, and after it.
void draw_late_seeds(Random random, Parameters& p) {
  for (std::uint64_t left = random.between(1, 3); left > 0; --left) {
    Fault fault;
    fault.kind = Fault::Kind::late_seed;
    fault.peer = random.below(p.peers);
    fault.at = seconds{2};
    fault.what = random.pick({"wave_reply", "wave_reply", "finish", "finish", "finish_ack"});
    fault.sends = random.between(1, 2 * p.peers);
    fault.by = random.pick({Duration{}, Duration{milliseconds{1}}, Duration{milliseconds{5}},
                            random.between(Duration{}, Duration{milliseconds{300}})});
    // In scope under every scope.
    fault.host =
        static_cast<std::uint32_t>(random.below(p.settings.scope == ScopeKind::host ? p.seed_hosts : p.web.hosts));
    fault.page = static_cast<std::uint32_t>(random.below(p.web.pages_per_host));
    p.faults.push_back(std::move(fault));
  }
}

// Each side counts the other as dead for good. One of them may end before the network is whole again.
void draw_long_cut(Random random, Parameters& p) {
  p.settings.replicas = std::max(p.settings.replicas, 2u);
  p.settings.on_cut = OnCut::continue_;
  p.settings.suspicion_time = seconds{2};
  p.settings.presume_dead_after = random.pick({Duration{seconds{3}}, Duration{seconds{6}}, Duration{seconds{12}}});
  if (random.chance(500)) p.settings.delay = seconds{1};
  Fault cut;
  cut.kind = Fault::Kind::cut;
  cut.at = random.between(Duration{seconds{3}}, Duration{seconds{15}});
  cut.down = p.settings.presume_dead_after + random.between(Duration{seconds{2}}, Duration{seconds{40}});
  for (std::size_t peer = 0; peer < p.peers; ++peer)
    if (random.chance(500)) cut.side.insert(peer);
  if (cut.side.empty() || cut.side.size() == p.peers) cut.side = {random.below(p.peers)};
  p.faults_end = std::max(p.faults_end, cut.at + cut.down);
  p.faults.push_back(std::move(cut));
}

// A peer cannot hand everything over in time: another one is slow, or cut off.
void draw_late_leave(Random random, Parameters& p) {
  p.settings.leave_timeout =
      random.pick({Duration{}, Duration{milliseconds{300}}, Duration{milliseconds{300}}, Duration{seconds{2}}});
  if (random.chance(500)) p.settings.delay = seconds{1};
  if (random.chance(500)) p.settings.replicas = 1;
  Fault leave;
  leave.kind = Fault::Kind::leave;
  leave.peer = random.below(p.peers);
  leave.at = random.between(Duration{seconds{2}}, Duration{seconds{8}});
  Fault slow;
  slow.kind = Fault::Kind::slow;
  slow.side = {(leave.peer + random.between(1, p.peers - 1)) % p.peers};
  slow.at = leave.at - random.between(Duration{}, Duration{seconds{2}});
  slow.down = random.between(Duration{seconds{4}}, Duration{seconds{12}});
  slow.by = random.between(Duration{milliseconds{300}}, Duration{seconds{1}});
  p.faults_end = std::max(p.faults_end, slow.at + slow.down);
  p.faults.push_back(std::move(slow));
  p.faults.push_back(std::move(leave));
}

void draw_connections(Random random, Parameters& p) {
  p.two_connections = true;
  p.max_answer_lag =
      p.calm()
          ? random.pick({Duration{}, Duration{milliseconds{20}}})
          : random.pick({Duration{}, Duration{milliseconds{20}}, Duration{milliseconds{300}}, Duration{seconds{1}}});
  // An answer may come when its question has been asked again.
  if (p.max_answer_lag >= milliseconds{300} && random.chance(500)) p.settings.batch_timeout = milliseconds{300};
  p.leaves_from = random.pick({std::size_t{1}, std::size_t{4}, std::size_t{16}, std::size_t{2048}});
  // TCP gives a connection up after 10 s without an acknowledgement (ring/zmq_curve.cc).
  p.stale_connections = random.pick({Duration{}, Duration{seconds{2}}, Duration{seconds{10}}});
  p.partitions_a_step = random.pick({std::size_t{2}, std::size_t{16}, std::size_t{1024}});
}

// Pages are fetched and links sent while a wave is under way.
void draw_waves(Random random, Parameters& p) {
  p.max_wave_delay = random.pick({Duration{milliseconds{300}}, Duration{seconds{1}}, Duration{seconds{3}}});
  if (p.settings.scope == ScopeKind::host || p.web.long_pages > 0 || random.chance(400)) return;
  // One page at a time, each at another peer than the one before.
  p.web.chain = true;
  p.web.hosts = static_cast<std::uint32_t>(random.between(10, 40));
  p.web.pages_per_host = 1;
  p.web.dead_hosts = p.web.gone = p.web.failing = p.web.killers = 0;
  p.seed_hosts = 1;
  p.settings.scope = ScopeKind::any;
  p.settings.max_pages = 0;
  p.settings.max_depth = 0;
  if (random.chance(700)) p.settings.robots = false;
}

// Many pages link to the same ones. A link that an earlier page brought is still on its way to a slow peer when the
// outcome of a later page could leave for another one.
void draw_shared_links(Random random, Parameters& p) {
  p.settings.replicas = std::max(p.settings.replicas, 2u);
  p.settings.scope = ScopeKind::any;
  p.settings.max_pages = 0;
  p.settings.max_depth = 0;
  p.settings.robots = false;
  p.settings.max_link_cache_entries = 65536;
  if (p.settings.delay > Duration{})
    p.settings.delay = random.pick({Duration{milliseconds{100}}, Duration{milliseconds{300}}});
  p.web.chain = false;
  p.web.hosts = std::max(p.web.hosts, 8u);
  p.web.pages_per_host = std::max(p.web.pages_per_host, 8u);
  p.web.links_per_page = static_cast<std::uint32_t>(random.between(1, 3));
  p.web.away = 900;
  draw_slow_peer(random, p, {milliseconds{500}, seconds{3}}, {seconds{5}, seconds{20}});
}

// Not more than a peer can do. A long page's links go through the windows several times each: where few records fit at
// a time and each answer is late, or a queue drops half of them, that alone is hours. And every 5 s a peer compares its
// copies.
void keep_pace(Parameters& p) {
  const Settings& s = p.settings;
  const std::size_t at_a_time =
      std::min<std::size_t>(s.max_batch_records * s.max_batches_in_flight, s.max_outbox_records_in_memory);
  if (p.web.long_pages > 0 && at_a_time < 8) p.max_answer_lag = std::min(p.max_answer_lag, Duration{milliseconds{20}});
  if (p.web.long_pages > 0 && p.queue_bytes > 0) p.queue_bytes = std::max<std::uint64_t>(p.queue_bytes, 16384);
  const auto comparisons = static_cast<Duration::rep>(s.partitions * (s.replicas - 1) / p.partitions_a_step);
  while (comparisons * p.max_step > seconds{2}) p.max_step /= 4;
}

// Large messages need much time, and full queues drop them.
void draw_loops(Random random, Parameters& p) {
  p.max_step = random.pick({Duration{milliseconds{1}}, Duration{milliseconds{5}}, Duration{milliseconds{20}}});
  p.queue_bytes = p.calm() ? 0 : random.pick({0U, 2048U, 16384U, 16384U});
}

}  // namespace

void draw_ends(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0xe2d5));
  const auto wanted = [&](bool on, std::uint32_t per_mille) { return which.chance(per_mille) && on; };
  const bool late_seeds = wanted(kinds.late_seeds, 200);
  const bool long_cut = wanted(kinds.long_cuts, 60);
  const bool late_leave = wanted(kinds.late_leaves, 100);
  const bool connections = wanted(kinds.connections, 300);
  const bool loops = wanted(kinds.loops, 200);
  const bool moves = wanted(kinds.moves, 150);
  const bool waves = wanted(kinds.connections, 200);
  const bool shared_links = wanted(kinds.cuts, 60);
  const auto source = [&](std::uint64_t kind) { return Random(mix(seed) ^ mix(kind)); };
  const bool disk_lost = any_disk_is_lost(p);
  if (long_cut && p.peers > 1 && !disk_lost) draw_long_cut(source(41), p);
  if (late_leave && p.peers > 1 && !disk_lost) draw_late_leave(source(42), p);
  if (connections) draw_connections(source(43), p);
  if (waves) draw_waves(source(47), p);
  if (shared_links && p.peers > 2 && !p.calm()) draw_shared_links(source(48), p);
  if (loops) draw_loops(source(45), p);
  keep_pace(p);
  if (moves) p.moves = source(46).pick({200U, 1000U});
  // A URL that only a lost disk contained is lost for the ring.
  if (late_seeds && !disk_lost) draw_late_seeds(source(44), p);
  draw_power(seed, p, kinds);
}

}  // namespace orbweaver::sim
