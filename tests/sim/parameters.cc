#include "tests/sim/parameters.h"

#include <algorithm>

#include "tests/sim/random.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Settings take ugly values at times: a bound of one, a batch of one record, no cache.
void draw_settings(Random& random, Parameters& p) {
  Settings& s = p.settings;
  s.partitions = random.pick({16U, 64U, 64U, 256U, 1024U});
  s.scope = random.chance(500) ? ScopeKind::host : ScopeKind::any;
  s.delay = random.chance(500) ? Duration{} : Duration{seconds{1}};
  s.stop_when_done = true;
  s.retries = random.pick({0U, 1U, 3U, 3U});
  s.retry_delay = random.pick({Duration{milliseconds{100}}, Duration{seconds{1}}, Duration{seconds{5}}});
  s.robots = random.chance(850);
  s.max_pages = random.chance(250) ? random.between(1, 120) : 0;
  s.max_depth = random.chance(100) ? static_cast<std::uint32_t>(random.between(1, 4)) : 0;
  s.fetches_max = random.pick({1U, 4U, 256U, 256U});
  s.link_cache_entries = random.pick({0U, 1U, 64U, 65536U});
  s.batch_records = random.pick({1U, 3U, 16U, 1024U});
  s.batch_age = random.pick({Duration{}, Duration{milliseconds{10}}, Duration{milliseconds{100}}});
  s.batches_under_way = random.pick({1U, 2U, 4U});
  s.batch_timeout = random.pick({Duration{seconds{1}}, Duration{seconds{5}}});
  s.outbox_memory_records = random.pick({1U, 8U, 65536U});
  s.hosts_in_memory = random.pick({1U, 2U, 10000U, 10000U});
  s.host_queue_in_memory = random.pick({1U, 2U, 64U, 64U});
}

void draw_web(Random& random, Parameters& p) {
  WebConfig& web = p.web;
  web.seed = random.next();
  web.hosts = static_cast<std::uint32_t>(random.between(2, 16));
  web.pages_per_host = static_cast<std::uint32_t>(random.between(4, 40));
  web.links_per_page = static_cast<std::uint32_t>(random.between(0, 6));
  web.away = random.pick({50U, 300U, 700U});
  web.flaky_tries = std::min(2U, p.settings.retries);
  p.seed_hosts = static_cast<std::uint32_t>(random.between(1, web.hosts));
}

void draw_network_faults(Random& random, Parameters& p) {
  p.network.delay_max =
      random.pick({Duration{milliseconds{5}}, Duration{milliseconds{50}}, Duration{milliseconds{200}}});
  p.network.loss = random.pick({0U, 10U, 50U, 200U});
  p.network.doubled = random.pick({0U, 10U, 100U});
  p.network.reordered = random.pick({0U, 10U, 200U});
}

void draw_crashes(Random& random, Parameters& p) {
  for (std::uint64_t left = random.between(1, 4); left > 0; --left) {
    Deed deed;
    deed.kind = random.chance(200) ? Deed::Kind::crash_all : random.chance(250) ? Deed::Kind::stop : Deed::Kind::crash;
    deed.peer = random.below(p.peers);
    deed.at = random.between(Duration{seconds{3}}, p.faults_end);
    // Back before the others have given it up.
    deed.down = random.between(Duration{milliseconds{5}}, Duration{seconds{4}});
    p.deeds.push_back(deed);
  }
}

}  // namespace

std::string_view deed_name(Deed::Kind kind) {
  switch (kind) {
    case Deed::Kind::crash:
      return "crash";
    case Deed::Kind::crash_all:
      return "crash_all";
    case Deed::Kind::stop:
      return "stop";
    case Deed::Kind::leave:
      return "leave";
    case Deed::Kind::join:
      return "join";
  }
  return "unknown";
}

Parameters Parameters::draw(std::uint64_t seed) {
  Random random(seed);
  Parameters p;
  p.seed = seed;
  p.settings = default_settings();
  p.peers = random.between(1, 8);
  draw_settings(random, p);
  draw_web(random, p);
  p.seeds_at_all = random.chance(300);
  p.faults_end = random.between(Duration{seconds{4}}, Duration{seconds{30}});
  const std::uint64_t kind = random.below(4);  // 0: calm, 1: network, 2: crashes, 3: both
  if (kind == 1 || kind == 3) draw_network_faults(random, p);
  if (kind >= 2) draw_crashes(random, p);
  p.parse_max = random.chance(200) ? Duration{seconds{2}} : Duration{milliseconds{20}};
  return p;
}

std::vector<std::string> Parameters::seeds(const FakeWeb& fake_web) const {
  std::vector<std::string> urls;
  for (std::uint32_t host = 0; host < seed_hosts; ++host) urls.push_back(fake_web.page_url(host, 0));
  return urls;
}

std::string Parameters::text() const {
  std::string out = "seed=" + std::to_string(seed) + "\n";
  const auto number = [&](std::string_view name, auto value) {
    out += std::string(name) + "=" + std::to_string(value) + "\n";
  };
  number("peers", peers);
  number("seed_hosts", seed_hosts);
  number("seeds_at_all", seeds_at_all ? 1 : 0);
  for (const char* name :
       {"partitions", "scope", "delay", "max_pages", "max_depth", "retries", "retry_delay", "robots", "fetches_max",
        "link_cache_entries", "batch_records", "batch_age", "batches_under_way", "batch_timeout",
        "outbox_memory_records", "hosts_in_memory", "host_queue_in_memory", "suspicion_time"})
    out += std::string(name) + "=" + setting_text(settings, name) + "\n";
  number("web.seed", web.seed);
  number("web.hosts", web.hosts);
  number("web.pages_per_host", web.pages_per_host);
  number("web.links_per_page", web.links_per_page);
  number("web.away", web.away);
  number("web.flaky_tries", web.flaky_tries);
  number("web.robots_redirects", web.robots_redirects ? 1 : 0);
  out += "network.delay_max=" + duration_text(network.delay_max) + "\n";
  number("network.loss", network.loss);
  number("network.doubled", network.doubled);
  number("network.reordered", network.reordered);
  out += "parse_max=" + duration_text(parse_max) + "\nfaults_end=" + duration_text(faults_end) + "\n";
  for (const Deed& deed : deeds)
    out += "deed=" + std::string(deed_name(deed.kind)) + " peer " + std::to_string(deed.peer) + " at " +
           duration_text(deed.at) + " for " + duration_text(deed.down) + "\n";
  return out;
}

}  // namespace orbweaver::sim
