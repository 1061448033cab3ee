#include "tests/sim/draw_work.h"

#include <algorithm>

#include "tests/sim/random.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Of 1000 seeds, this many are given one kind.
constexpr std::uint32_t share = 130;

// A crawl that is over before anything uncommon happens tests nothing.
void make_it_last(Random& random, Parameters& p, std::uint32_t slow = 700) {
  p.settings.max_pages = 0;
  if (random.chance(slow)) p.settings.delay = seconds{1};
  if (p.web.away == 1000) return;  // draw_thin_web
  p.web.hosts = std::max(p.web.hosts, 4U);
  p.web.pages_per_host = std::max(p.web.pages_per_host, 20U);
}

void draw_mirrors(Random random, Parameters& p) {
  make_it_last(random, p);
  // Otherwise nothing leads to a mirror: no seed is one.
  p.settings.scope = ScopeKind::any;
  p.settings.max_depth = 0;
  p.web.mirrors = static_cast<std::uint32_t>(random.between(p.web.hosts / 3, p.web.hosts / 2));
  p.web.copies = random.pick({0U, 0U, 300U, 800U});
  p.web.away = std::max(p.web.away, 300U);
  p.web.links_per_page = std::max(p.web.links_per_page, 3U);
  p.seed_hosts = std::min(p.seed_hosts, p.web.hosts - p.web.mirrors);
  p.settings.trap_rules = {"mirror", "same_content"};
  if (random.chance(300)) p.settings.trap_rules.emplace_back("deep_chain");
  p.settings.trap_budget = random.pick({0U, 1U, 3U});
  p.settings.trap_depth = random.pick({2U, 5U});
  p.settings.trap_same_content = random.pick({1U, 3U});
  p.settings.trap_mirror_pages = random.pick({2U, 2U, 4U});
}

void draw_budgets(Random random, Parameters& p) {
  Settings& s = p.settings;
  if (random.chance(600)) s.max_pages_per_host = random.between(1, 20);
  if (random.chance(300)) s.max_bytes_per_host = 1000 * random.between(1, 20);
  if (random.chance(500)) s.max_pages_per_domain = random.between(1, 40);
  if (random.chance(300)) s.max_bytes_per_domain = 1000 * random.between(1, 40);
  if (random.chance(300)) s.max_bytes = 1000 * random.between(1, 200);
  if (random.chance(500)) p.web.domains = random.pick({2U, 5U});
  if (s.max_pages_per_domain > 0 || s.max_bytes_per_domain > 0) s.partition_by = PartitionBy::domain;
}

Fault question(Random& random, const Parameters& p, Fault::Kind kind) {
  Fault fault;
  fault.kind = kind;
  fault.peer = random.below(p.peers);
  fault.at = random.between(Duration{seconds{1}}, p.faults_end);
  fault.host = static_cast<std::uint32_t>(random.below(p.web.hosts));
  return fault;
}

void draw_recrawls(Random random, Parameters& p) {
  make_it_last(random, p);
  p.web.validators = random.pick({0U, 500U, 1000U});
  p.walk_records = random.pick({std::size_t{1}, std::size_t{5}, std::size_t{2048}});
  for (std::uint64_t left = random.between(1, 3); left > 0; --left) {
    Fault fault = question(random, p, Fault::Kind::recrawl);
    fault.at += seconds{3};
    fault.by = random.pick({Duration{}, Duration{}, Duration{seconds{2}}});
    fault.what = random.pick({"", "", "host", "match"});
    p.faults.push_back(std::move(fault));
  }
}

void draw_detours(Random random, Parameters& p) {
  p.settings.strip_parameters = {"v"};
  p.web.canonical_redirects = random.pick({50U, 200U, 500U});
}

void draw_questions(Random random, Parameters& p) {
  make_it_last(random, p);
  // A URL that only a lost disk contained is lost for the ring.
  const bool seeds_stay = std::none_of(p.faults.begin(), p.faults.end(), [](const Fault& fault) {
    return fault.kind == Fault::Kind::disk_gone || fault.kind == Fault::Kind::strike ||
           fault.kind == Fault::Kind::power_cut;
  });
  for (std::uint64_t left = random.between(3, 12); left > 0; --left) {
    Fault fault = question(random, p, Fault::Kind::ask);
    fault.what = random.pick({"status", "explain", "explain", "explain_unknown", "explain_nothing", "seed", "seed",
                              "traps", "readmit", "forget", "nonsense", "unreadable"});
    if (fault.what == "seed" && !seeds_stay) fault.what = "status";
    // In scope under every scope.
    if (fault.what == "seed" && p.settings.scope == ScopeKind::host) fault.host %= p.seed_hosts;
    fault.page = static_cast<std::uint32_t>(random.below(p.web.pages_per_host));
    p.faults.push_back(std::move(fault));
  }
}

void draw_pieces(Random random, Parameters& p) {
  p.settings.record_links = true;
  p.web.long_pages = static_cast<std::uint32_t>(random.between(1, std::min(3U, p.seed_hosts)));
  p.web.redirects = 0;  // so few pages are long
  p.web.dead_hosts = 0;
  if (p.calm() || p.peers < 3 || random.chance(500)) return;
  // The links of the first piece are on their way for longer than those of the last. The ring has formed by then.
  p.settings.replicas = std::max(p.settings.replicas, 2u);
  p.settings.scope = ScopeKind::any;
  p.settings.max_pages = 0;
  p.seed_hosts = 1;
  p.web.hosts = std::max(p.web.hosts, 8u);
  p.web.long_pages = 6;
  p.web.links_per_page = std::max(p.web.links_per_page, 4u);
  p.web.away = 700;
  draw_slow_peer(random, p, {seconds{2}, seconds{4}}, {seconds{4}, seconds{20}});
}

// Each order at most once: whether it still holds is seen in a peer's counts of orders.
void draw_orders(Random random, Parameters& p) {
  make_it_last(random, p, 300);
  p.walk_records = random.pick({std::size_t{1}, std::size_t{5}, std::size_t{2048}});
  for (const char* const what : {"pause", "pause_host", "block", "delay"}) {
    if (random.chance(400)) continue;
    Fault fault = question(random, p, Fault::Kind::order);
    fault.what = what;
    fault.down = random.between(Duration{milliseconds{200}}, Duration{seconds{8}});
    p.faults.push_back(std::move(fault));
  }
}

void draw_killers(Random random, Parameters& p) {
  make_it_last(random, p);
  p.web.killers = random.pick({5U, 15U, 40U});
}

}  // namespace

void draw_slow_peer(Random& random, Parameters& p, std::pair<Duration, Duration> at,
                    std::pair<Duration, Duration> down) {
  Fault slow;
  slow.kind = Fault::Kind::slow;
  slow.side = {random.below(p.peers)};
  slow.at = random.between(at.first, at.second);
  slow.down = random.between(down.first, down.second);
  slow.by = random.between(Duration{milliseconds{300}}, Duration{seconds{1}});
  p.faults_end = std::max(p.faults_end, slow.at + slow.down);
  p.faults.push_back(std::move(slow));
}

void draw_work(std::uint64_t seed, Parameters& p, const FaultKinds& kinds) {
  Random which(mix(seed ^ 0x90c1));
  const auto wanted = [&](bool on) { return which.chance(share) && on; };
  const bool mirrors = wanted(kinds.mirrors);
  const bool budgets = wanted(kinds.budgets);
  const bool recrawls = wanted(kinds.recrawls);
  const bool canonical_redirects = wanted(kinds.canonical_redirects);
  const bool questions = wanted(kinds.questions);
  const bool pieces = wanted(kinds.pieces);
  const bool killers = wanted(kinds.killers);
  const bool orders = wanted(kinds.orders);
  const auto source = [&](std::uint64_t kind) { return Random(mix(seed) ^ mix(kind)); };
  if (mirrors) draw_mirrors(source(21), p);
  if (budgets) draw_budgets(source(22), p);
  if (recrawls) draw_recrawls(source(23), p);
  if (canonical_redirects) draw_detours(source(24), p);
  if (pieces) draw_pieces(source(25), p);
  if (killers) draw_killers(source(26), p);
  if (questions) draw_questions(source(27), p);  // it depends on the scope
  if (orders) draw_orders(source(28), p);
}

}  // namespace orbweaver::sim
