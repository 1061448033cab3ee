// Slow hosts starve no other host (issue 11, 3): a domain or network that already uses its share begins a further
// transfer only where the reserve stays free.
#include <algorithm>
#include <map>

#include "node/frontier/transfer_shares.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

// The simulated web's registered domains have two labels.
std::string domain_of(const std::string& host) { return host.substr(host.rfind('.', host.rfind('.') - 1) + 1); }

class Shares final : public Checker {
 public:
  std::string_view name() const override { return "shares"; }

  void request_begun(World& world, const Request& request) override {
    const Settings& settings = world.parameters().settings;
    const TransferShares::Limits limits =
        TransferShares::limits(settings.max_fetches, settings.max_fetches_per_domain, settings.max_fetches_per_network);
    const std::string domain = domain_of(request.host);
    const std::string network = world.web().address_of(request.host).substr(0, 3);
    std::size_t all = 0;
    std::size_t of_domain = 0;
    std::size_t of_network = 0;
    for (const auto& [job, other] : world.peers()[request.peer].requests) {
      ++all;
      of_domain += domain_of(other.host) == domain ? 1 : 0;
      of_network += world.web().address_of(other.host).starts_with(network) ? 1 : 0;
    }
    if (all > limits.slots)
      world.fail(name(), std::to_string(all) + " transfers of peer " + std::to_string(request.peer));
    if ((of_domain > limits.max_domain || of_network > limits.max_network) && all + limits.reserve > limits.slots)
      world.fail(name(), request.url + " is number " + std::to_string(of_domain) + " of its domain, " +
                             std::to_string(of_network) + " of its network, " + std::to_string(all) + " of " +
                             std::to_string(limits.slots) + ", at peer " + std::to_string(request.peer));
  }
};

}  // namespace

std::unique_ptr<Checker> make_shares() { return std::make_unique<Shares>(); }

}  // namespace orbweaver::sim
