// The meaning of a seed: settings, web, network and crashes; which further faults; and those, by kind. Each part has
// its own source of chance, so that a change of one part leaves the others as they were.
#include <algorithm>

#include "tests/sim/draw_ends.h"
#include "tests/sim/draw_hand_offs.h"
#include "tests/sim/draw_work.h"
#include "tests/sim/parameters.h"
#include "tests/sim/random.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Settings sometimes take ugly values: a bound of one, a batch of one record, no cache.
void draw_settings(Random& random, Parameters& p) {
  Settings& s = p.settings;
  s.partitions = random.pick({16U, 64U, 64U, 256U, 1024U});
  s.scope = random.chance(500) ? ScopeKind::host : ScopeKind::any;
  s.delay = random.chance(500) ? Duration{} : Duration{seconds{1}};
  s.stop_when_done = true;
  s.max_retries = random.pick({0U, 1U, 3U, 3U});
  s.retry_delay = random.pick({Duration{milliseconds{100}}, Duration{seconds{1}}, Duration{seconds{5}}});
  s.robots = random.chance(850);
  s.max_pages = random.chance(250) ? random.between(1, 120) : 0;
  s.max_depth = random.chance(100) ? static_cast<std::uint32_t>(random.between(1, 4)) : 0;
  s.max_fetches = random.pick({1U, 4U, 256U, 256U});
  s.max_link_cache_entries = random.pick({0U, 1U, 64U, 65536U});
  s.max_batch_records = random.pick({1U, 3U, 16U, 1024U});
  s.max_batch_age = random.pick({Duration{}, Duration{milliseconds{10}}, Duration{milliseconds{100}}});
  s.max_batches_in_flight = random.pick({1U, 2U, 4U});
  s.batch_timeout = random.pick({Duration{seconds{1}}, Duration{seconds{5}}});
  s.max_outbox_records_in_memory = random.pick({1U, 8U, 65536U});
  s.max_hosts_in_memory = random.pick({1U, 2U, 10000U, 10000U});
  s.replicas = random.pick({1U, 2U, 2U, 2U, 3U});
  s.on_cut = random.chance(200) ? OnCut::pause_minority : OnCut::continue_;
  s.max_host_queue_in_memory = random.pick({1U, 2U, 64U, 64U});
}

void draw_web(Random& random, Parameters& p) {
  WebConfig& web = p.web;
  web.seed = random.next();
  web.sitemaps = web.seed % 4 == 0;  // no draw of its own, so that older seeds keep their meaning
  web.hosts = static_cast<std::uint32_t>(random.between(2, 16));
  web.pages_per_host = static_cast<std::uint32_t>(random.between(4, 40));
  web.links_per_page = static_cast<std::uint32_t>(random.between(0, 6));
  web.away = random.pick({50U, 300U, 700U});
  web.flaky_tries = std::min(2U, p.settings.max_retries);
  p.seed_hosts = static_cast<std::uint32_t>(random.between(1, web.hosts));
}

// Hosts of one or two pages that lead to others: few peers have work at any time, and it moves between them all the
// time. A wave must not mistake that for the end.
void draw_thin_web(Random random, Parameters& p) {
  if (!random.chance(150)) return;
  p.settings.scope = ScopeKind::any;
  p.settings.max_pages = 0;
  p.seed_hosts = 1;
  p.web.hosts = static_cast<std::uint32_t>(random.between(10, 60));
  p.web.pages_per_host = static_cast<std::uint32_t>(random.between(1, 2));
  p.web.links_per_page = 5;
  p.web.away = 1000;
}

// Hosts that share addresses, and delays that follow the host.
void draw_manners(Random random, Parameters& p) {
  if (random.chance(400)) p.settings.delay_factor = 5;
  if (!random.chance(500)) return;
  p.settings.address_delay = random.pick({Duration{milliseconds{50}}, Duration{milliseconds{250}}});
  p.web.addresses = random.pick({0U, 1U, 3U});
}

// Sites with their own delays, shorter and longer than those of the crawl and the address.
void draw_sites(Random random, Parameters& p) {
  if (!random.chance(300)) return;
  const FakeWeb web(p.web);
  for (std::uint32_t host = 0; host < p.web.hosts; ++host)
    if (random.chance(300))
      p.settings.sites.push_back(web.host_name(host) + " delay=" + random.pick({"0s", "20ms", "100ms", "300ms", "2s"}));
}

// Slow hosts, which keep transfers busy, of one domain or of one network.
void draw_drips(Random random, Parameters& p) {
  if (!random.chance(200)) return;
  p.web.domains = random.pick({0U, 2U, 5U});
  p.web.drip_hosts = static_cast<std::uint32_t>(random.between(1, p.web.hosts));
  p.web.drip_one_domain = random.chance(500);
  p.web.drip = random.between(Duration{seconds{2}}, Duration{seconds{20}});
  p.settings.max_fetches = random.pick({1U, 4U, 8U, 16U});
  p.settings.max_fetches_per_domain = random.pick({0U, 0U, 3U});
  p.settings.max_fetches_per_network = random.pick({0U, 0U, 3U});
}

void draw_partitioning(Random random, Parameters& p) {
  p.settings.partition_by = random.pick({PartitionBy::host, PartitionBy::host, PartitionBy::host, PartitionBy::domain,
                                         PartitionBy::url, PartitionBy::url});
}

// Another order than breadth-first in every third crawl.
void draw_order(Random random, Parameters& p) {
  if (!random.chance(350)) return;
  p.settings.order = random.pick({CrawlOrder::depth, CrawlOrder::best, CrawlOrder::best, CrawlOrder::best});
  if (p.settings.order != CrawlOrder::best) return;
  p.settings.best_by = random.pick({BestBy::topic, BestBy::opic, BestBy::inlinks});
  if (p.settings.best_by == BestBy::topic) p.settings.topic = "simulated";
  p.settings.max_score_entries = random.pick({0U, 4U, 65536U});
}

// Memory for no set of a host's URLs, for one, for some, or for all: they are dropped and built again.
void draw_seen_sets(Random random, Parameters& p) {
  p.seen_set_bytes = random.pick({std::uint64_t{0}, std::uint64_t{700}, std::uint64_t{2'500}, std::uint64_t{2'500},
                                  std::uint64_t{8'000}, std::uint64_t{16} << 20});
}

void draw_network_faults(Random& random, Parameters& p) {
  p.network.max_delay =
      random.pick({Duration{milliseconds{5}}, Duration{milliseconds{50}}, Duration{milliseconds{200}}});
  p.network.loss = random.pick({0U, 10U, 50U, 200U});
  p.network.doubled = random.pick({0U, 10U, 100U});
  p.network.reordered = random.pick({0U, 10U, 200U});
}

void draw_crashes(Random& random, Parameters& p) {
  for (std::uint64_t left = random.between(1, 4); left > 0; --left) {
    Fault fault;
    fault.kind = random.chance(200)   ? Fault::Kind::crash_all
                 : random.chance(250) ? Fault::Kind::stop
                                      : Fault::Kind::crash;
    fault.peer = random.below(p.peers);
    fault.at = random.between(Duration{seconds{3}}, p.faults_end);
    // The peer is back before the others declare it down.
    fault.down = random.between(Duration{milliseconds{5}}, Duration{seconds{4}});
    p.faults.push_back(fault);
  }
}

// ---- further faults ----

Fault fault_of(Fault::Kind kind, std::size_t peer, Duration at, Duration down) {
  Fault fault;
  fault.kind = kind;
  fault.peer = peer;
  fault.at = at;
  fault.down = down;
  return fault;
}

// One peer stays, and the others join through it: a joiner cannot join through a peer that has left.
void draw_members(Random random, Parameters& p) {
  const bool in_a_row = random.chance(250);
  const std::size_t stays = random.below(p.peers);
  std::vector<std::size_t> may_leave;
  for (std::size_t peer = 0; peer < p.peers; ++peer)
    if (peer != stays) may_leave.push_back(peer);
  std::size_t next = p.peers;
  Duration at = random.between(Duration{seconds{2}}, Duration{seconds{10}});
  for (std::uint64_t left = in_a_row ? 10 : random.between(1, 4); left > 0; --left) {
    if (may_leave.empty() || random.chance(500)) {
      Fault join = fault_of(Fault::Kind::join, next, at, {});
      join.through = stays;
      p.faults.push_back(join);
      may_leave.push_back(next++);
    } else {
      const auto who = may_leave.begin() + static_cast<std::ptrdiff_t>(random.below(may_leave.size()));
      const Duration back =
          random.chance(200) ? random.between(Duration{milliseconds{100}}, Duration{seconds{5}}) : Duration{};
      p.faults.push_back(fault_of(Fault::Kind::leave, *who, at, back));
      may_leave.erase(who);
    }
    p.faults_end = std::max(p.faults_end, at);
    at += in_a_row ? random.between(Duration{milliseconds{200}}, Duration{seconds{2}})
                   : random.between(Duration{}, Duration{seconds{8}});
  }
}

// Ends before faults_end; some are shorter, some longer than the suspicion time.
Fault lasting(Random& random, const Parameters& p, Fault::Kind kind) {
  const Duration at = random.between(Duration{seconds{1}}, p.faults_end / 2);
  const Duration longest = random.pick({Duration{seconds{1}}, Duration{seconds{5}}, Duration{seconds{25}}});
  const Duration lasts = random.between(Duration{milliseconds{100}}, longest);
  return fault_of(kind, 0, at, std::min(lasts, p.faults_end - at));
}

void draw_cuts(Random random, Parameters& p) {
  const std::size_t peers = p.peers_in_all();
  for (std::uint64_t left = random.between(1, 2); left > 0; --left) {
    Fault fault = lasting(
        random, p,
        random.pick({Fault::Kind::cut, Fault::Kind::cut, Fault::Kind::one_way, Fault::Kind::slow, Fault::Kind::slow}));
    if (fault.kind == Fault::Kind::slow) {
      fault.by = random.between(Duration{milliseconds{20}}, Duration{seconds{2}});
    } else {
      fault.held = random.chance(400);
    }
    for (std::size_t peer = 0; peer < peers; ++peer)
      if (random.chance(500)) fault.side.insert(peer);
    if (fault.side.empty() || fault.side.size() == peers) fault.side = {random.below(peers)};
    p.faults.push_back(std::move(fault));
  }
}

void draw_pauses(Random random, Parameters& p) {
  for (std::uint64_t left = random.between(1, 3); left > 0; --left) {
    Fault fault = lasting(random, p, Fault::Kind::pause);
    fault.peer = random.below(p.peers_in_all());
    fault.tick_last = random.chance(500);
    p.faults.push_back(std::move(fault));
  }
}

void draw_skews(Random random, Parameters& p) {
  const std::size_t peers = p.peers_in_all();
  for (std::size_t peer = 0; peer < peers; ++peer)
    if (random.chance(400)) p.skews[peer] = random.between(-Duration{seconds{30}}, Duration{seconds{30}});
  if (p.skews.empty()) p.skews[0] = Duration{seconds{10}};
}

void draw_disks(Random random, Parameters& p, std::initializer_list<Fault::Kind> kinds) {
  for (std::uint64_t left = random.between(1, 2); left > 0; --left) {
    Fault fault =
        fault_of(random.pick(kinds), random.below(p.peers_in_all()), random.between(Duration{seconds{1}}, p.faults_end),
                 random.between(Duration{milliseconds{50}}, Duration{seconds{4}}));
    fault.writes = random.below(12);
    p.faults.push_back(std::move(fault));
  }
}

void draw_further_faults(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0x3a17));
  const auto wanted = [&](bool on, std::uint32_t per_mille) { return which.chance(per_mille) && on; };
  // Most calm seeds stay calm: they are checked against the contract to the letter.
  if (which.chance(p.calm() ? 650 : 400)) return;
  const bool members = wanted(kinds.members, 350);
  const bool cuts = wanted(kinds.cuts, 450) && p.peers > 1;
  const bool pauses = wanted(kinds.pauses, 350);
  const bool skews = wanted(kinds.skews, 350);
  const bool disks = wanted(kinds.disks, 350);
  const bool disk_gone = wanted(kinds.disk_gone, 200) && p.peers > 2;
  if (!(members || cuts || pauses || skews || disks || disk_gone)) return;
  const auto source = [&](std::uint64_t kind) { return Random(mix(seed) ^ mix(kind)); };
  Random common = source(1);
  // A crawl that is over before the first fault tests nothing.
  if (common.chance(800)) p.settings.delay = seconds{1};
  if (p.web.away < 1000) {
    p.web.hosts = std::max(p.web.hosts, 4u);
    p.web.pages_per_host = std::max(p.web.pages_per_host, 30u);
  }
  p.settings.suspicion_time = common.pick({Duration{seconds{2}}, Duration{seconds{4}}, Duration{seconds{10}}});
  const Duration longer = common.between(Duration{seconds{10}}, Duration{seconds{40}});
  if (cuts || pauses) p.faults_end = std::max(p.faults_end, longer);
  if (members) draw_members(source(2), p);
  if (cuts) draw_cuts(source(3), p);
  if (pauses) draw_pauses(source(4), p);
  if (skews) draw_skews(source(5), p);
  if (disks) draw_disks(source(6), p, {Fault::Kind::disk_error, Fault::Kind::disk_full});
  if (disk_gone) {
    // At most one disk: a loss of more peers than there are copies is not covered by the contract.
    p.settings.replicas = std::max(p.settings.replicas, 2u);
    Random random = source(7);
    Fault fault = lasting(random, p, Fault::Kind::disk_gone);
    fault.peer = random.below(p.peers);
    if (random.chance(300)) fault.down = {};
    p.faults.push_back(std::move(fault));
  }
}

// What a restart must not undo. A fast network and small batches: what a peer does first after a restart takes many
// messages, and any of them may be its last.
void draw_restarts(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0x2e57));
  const bool deaths = which.chance(150) && kinds.deaths && p.peers > 1;
  const bool strikes = which.chance(200) && kinds.strikes && p.peers > 1;
  const bool take_overs = which.chance(150) && kinds.deaths && p.peers > 2 && !p.calm();
  if (!deaths && !strikes && !take_overs) return;
  Random random(mix(seed) ^ mix(0x2e57));
  if (random.chance(deaths || strikes ? 800 : 200)) p.settings.delay = seconds{1};
  p.settings.suspicion_time = random.pick({Duration{seconds{2}}, Duration{seconds{4}}});
  p.faults_end = std::max(p.faults_end, random.between(Duration{seconds{10}}, Duration{seconds{40}}));
  if (p.web.away < 1000) {
    p.web.hosts = std::max(p.web.hosts, 4u);
    p.web.pages_per_host = std::max(p.web.pages_per_host, 30u);
    p.web.links_per_page = std::max(p.web.links_per_page, 2u);
  }
  const auto some_time = [&] { return random.between(Duration{seconds{2}}, p.faults_end); };
  if (deaths)
    for (std::uint64_t left = random.between(1, 2); left > 0; --left)
      p.faults.push_back(
          fault_of(Fault::Kind::crash, random.below(p.peers), some_time(),
                   p.settings.suspicion_time + random.between(Duration{seconds{1}}, Duration{seconds{8}})));
  if (take_overs) {
    // Who takes over is killed while it asks the others what they have.
    p.settings.replicas = std::max(p.settings.replicas, 2u);
    const Duration death = some_time();
    p.faults.push_back(
        fault_of(Fault::Kind::crash, random.below(p.peers), death,
                 p.settings.suspicion_time + random.between(Duration{seconds{1}}, Duration{seconds{8}})));
    for (std::uint64_t left = random.between(1, 3); left > 0; --left) {
      Fault crash = fault_of(Fault::Kind::crash_at, 0, death,
                             random.between(Duration{milliseconds{20}}, Duration{milliseconds{500}}));
      crash.what = random.pick({"ask_records", "ask_records", "roots"});
      crash.sends = random.between(1, 12);
      p.faults.push_back(std::move(crash));
    }
  }
  if (!strikes) return;
  p.settings.delay = random.pick({Duration{milliseconds{100}}, Duration{milliseconds{300}}, Duration{seconds{1}}});
  // One disk at most: more than the ring has copies for is not promised.
  if (std::any_of(p.faults.begin(), p.faults.end(),
                  [](const Fault& fault) { return fault.kind == Fault::Kind::disk_gone; }))
    return;
  p.settings.replicas = std::max(p.settings.replicas, 2u);
  Fault strike = fault_of(Fault::Kind::strike, random.below(p.peers),
                          random.between(Duration{seconds{1}}, Duration{seconds{8}}), {});
  strike.by = random.between(Duration{milliseconds{1}}, Duration{milliseconds{500}});
  strike.writes = random.below(30);
  strike.what = random.pick({"", "batch_ack", "batch_ack", "batch", "batch"});
  strike.sends = random.chance(200) ? random.between(10, 100) : random.between(1, 6);
  if (random.chance(500)) strike.down = random.between(Duration{milliseconds{50}}, Duration{seconds{8}});
  p.faults.push_back(std::move(strike));
}

// By how much a machine's clock is wrong: a second to a year, back more often than forth.
Duration draw_clock_step(Random& random) {
  const Duration step =
      random.pick({Duration{seconds{1}}, Duration{seconds{2}}, Duration{seconds{600}}, Duration{std::chrono::hours{5}},
                   Duration{std::chrono::hours{24 * 30}}, Duration{std::chrono::hours{24 * 365}}});
  return random.chance(700) ? -step : step;
}

bool ends_a_process(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::crash:
    case Fault::Kind::crash_all:
    case Fault::Kind::crash_at:
    case Fault::Kind::stop:
    case Fault::Kind::disk_error:
    case Fault::Kind::disk_full:
    case Fault::Kind::read_error:
    case Fault::Kind::strike:
    case Fault::Kind::power_cut:
      return true;
    default:
      return false;
  }
}

// A peer that is started again with another time, and reads that fail. What a user wants to be visited again goes by
// dates, so there the clocks stay.
void draw_clocks_and_reads(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0xc10c));
  const bool clocks = which.chance(200) && kinds.clocks;
  const bool reads = which.chance(100) && kinds.reads;
  Random random(mix(seed) ^ mix(0xc10c));
  if (reads)
    for (std::uint64_t left = random.between(1, 2); left > 0; --left) {
      Fault fault =
          fault_of(Fault::Kind::read_error, random.below(p.peers), random.between(Duration{seconds{1}}, p.faults_end),
                   random.between(Duration{milliseconds{50}}, Duration{seconds{4}}));
      fault.writes = random.below(60);
      p.faults.push_back(std::move(fault));
    }
  if (!clocks || std::any_of(p.faults.begin(), p.faults.end(),
                             [](const Fault& fault) { return fault.kind == Fault::Kind::recrawl; }))
    return;
  if (std::none_of(p.faults.begin(), p.faults.end(), ends_a_process)) {
    // The peer with the lowest identity sends the waves; which that is, is not known here.
    for (std::size_t peer = 0; peer < p.peers; ++peer)
      p.faults.push_back(fault_of(Fault::Kind::crash, peer, random.between(Duration{seconds{2}}, p.faults_end),
                                  random.between(Duration{milliseconds{5}}, Duration{seconds{1}})));
  }
  for (Fault& fault : p.faults)
    if (ends_a_process(fault) && random.chance(700)) fault.clock = draw_clock_step(random);
}

void draw_robots(Random random, Parameters& p) {
  if (!random.chance(300)) return;
  p.web.robots_redirects = true;
  p.web.robots_elsewhere = random.chance(800);
}

// Domains with a budget in a ring whose members come and go.
void draw_domain_budgets(Random random, Parameters& p, const FaultKinds& kinds) {
  if (!random.chance(80) || !kinds.budgets || p.peers < 2) return;
  p.settings.partition_by = PartitionBy::domain;
  p.settings.max_pages_per_domain = random.between(10, 60);
  p.web.domains = random.pick({2U, 3U, 5U});
  p.web.hosts = std::max(p.web.hosts, 2 * p.web.domains);
  if (kinds.members && p.peers_in_all() == p.peers) draw_members(random, p);
}

// The directory of a peer that stays is copied and used twice. Others come and go; nothing keeps the two, and those who
// know the first, from hearing of each other for long.
void draw_copies(Random random, Parameters& p, const FaultKinds& kinds) {
  if (!random.chance(250) || !kinds.copies || p.peers < 2) return;
  std::set<std::size_t> stay;
  for (std::size_t peer = 0; peer < p.peers; ++peer) stay.insert(peer);
  for (const Fault& fault : p.faults) {
    if (fault.is_question()) continue;
    if (!fault.of_one_peer() || fault.kind == Fault::Kind::pause || fault.kind == Fault::Kind::strike ||
        fault.kind == Fault::Kind::power_cut)
      return;
    stay.erase(fault.peer);
  }
  if (stay.empty()) return;
  const std::size_t which = random.below(stay.size());
  p.faults.push_back(fault_of(Fault::Kind::copy, *std::next(stay.begin(), static_cast<std::ptrdiff_t>(which)),
                              random.between(Duration{seconds{2}}, p.faults_end), {}));
}

}  // namespace

Parameters Parameters::draw(std::uint64_t seed, const FaultKinds& kinds) {
  Random random(seed);
  Parameters p;
  p.seed = seed;
  p.settings = plain_settings();
  p.peers = random.between(1, 8);
  draw_settings(random, p);
  draw_web(random, p);
  p.seeds_at_all = random.chance(300);
  p.faults_end = random.between(Duration{seconds{4}}, Duration{seconds{30}});
  const std::uint64_t kind = random.below(4);  // 0: calm, 1: network, 2: crashes, 3: both
  if (kind == 1 || kind == 3) draw_network_faults(random, p);
  if (kind >= 2) draw_crashes(random, p);
  p.max_parse = random.chance(200) ? Duration{seconds{2}} : Duration{milliseconds{20}};
  draw_thin_web(Random(mix(seed ^ 0x7417)), p);
  draw_manners(Random(mix(seed ^ 0xadd2)), p);
  draw_drips(Random(mix(seed ^ 0xd219)), p);
  draw_sites(Random(mix(seed ^ 0x517e)), p);
  draw_robots(Random(mix(seed ^ 0x30b5)), p);
  draw_partitioning(Random(mix(seed ^ 0x9a27)), p);
  draw_order(Random(mix(seed ^ 0x04de)), p);
  draw_seen_sets(Random(mix(seed ^ 0x5e75)), p);
  draw_further_faults(seed, p, kinds);
  const bool stays_calm = p.calm() && Random(mix(seed ^ 0xca13)).chance(960);
  if (!stays_calm) draw_restarts(seed, p, kinds);
  draw_work(seed, p, kinds);
  draw_domain_budgets(Random(mix(seed ^ 0xd0b6)), p, kinds);
  if (!stays_calm) draw_clocks_and_reads(seed, p, kinds);
  if (!stays_calm) draw_ends(seed, p, kinds);
  if (!stays_calm) draw_hand_offs(seed, p, kinds);
  if (!stays_calm) draw_copies(Random(mix(seed ^ 0xc0b1)), p, kinds);
  return p;
}

}  // namespace orbweaver::sim
