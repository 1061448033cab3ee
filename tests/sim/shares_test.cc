// Slow hosts, which keep transfers busy, do not stop the pages of other hosts (issue 11, 3).
#include <gtest/gtest.h>

#include "tests/sim/scenario.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint32_t good_hosts = 10;
constexpr std::uint32_t slow_hosts = 60;

Parameters attacked(std::size_t peers, bool one_domain) {
  Parameters p;
  p.seed = 11;
  p.settings = plain_settings();
  p.settings.scope = ScopeKind::any;
  p.settings.delay = seconds{1};
  p.settings.max_fetches = 16;
  p.peers = peers;
  p.web.seed = 11;
  p.web.hosts = slow_hosts + good_hosts;
  p.web.pages_per_host = 400;
  p.web.away = 0;
  p.web.slow_hosts = p.web.dead_hosts = 0;
  p.web.domains = good_hosts;
  p.web.drip_hosts = slow_hosts;
  p.web.drip_one_domain = one_domain;
  p.web.drip = minutes{1};
  p.seed_hosts = p.web.hosts;
  return p;
}

// Requests to good hosts within three minutes.
std::uint64_t good_requests(const Parameters& parameters) {
  World world(parameters, false);
  EXPECT_TRUE(world.run(minutes{3})) << report(world);
  std::uint64_t count = 0;
  for (const auto& [host, requests] : world.stats().requests_to) count += world.web().drips(host) ? 0 : requests;
  return count;
}

class Attack : public testing::TestWithParam<std::tuple<std::size_t, bool>> {};

TEST_P(Attack, LeavesFourFifthsOfTheGoodPages) {
  const auto [peers, one_domain] = GetParam();
  Parameters calm = attacked(peers, one_domain);
  calm.web.drip = milliseconds{50};
  const std::uint64_t without = good_requests(calm);
  EXPECT_GT(without, 500u);
  EXPECT_GE(good_requests(attacked(peers, one_domain)) * 5, without * 4);
}

TEST_P(Attack, WithoutSharesItTakesThem) {
  const auto [peers, one_domain] = GetParam();
  Parameters calm = attacked(peers, one_domain);
  calm.web.drip = milliseconds{50};
  Parameters open = attacked(peers, one_domain);
  open.settings.max_fetches_per_domain = open.settings.max_fetches_per_network = 10'000;
  EXPECT_LT(good_requests(open) * 2, good_requests(calm)) << "the attack is none";
}

INSTANTIATE_TEST_SUITE_P(Sim, Attack, testing::Combine(testing::Values(1, 3), testing::Bool()));

}  // namespace

}  // namespace orbweaver::sim
