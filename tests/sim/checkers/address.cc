// One polite guest (issue 4, 6): from the server's side, two requests to one address begin address_delay apart,
// whatever hosts and peers they are of. While owners change (and their views may differ) two peers may give turns:
// counted, not failed, until what was given then is used up.
#include <map>

#include "node/crawl/address_turns.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Address final : public Checker {
 public:
  std::string_view name() const override { return "address"; }

  void owners_changed(World& world, std::size_t) override { changed_ = world.now(); }

  void request_begun(World& world, const Request& request) override {
    const Settings& settings = world.parameters().settings;
    const Duration delay = std::min(settings.address_delay, settings.delay);
    const std::string address = world.web().address_of(request.host);
    const auto [last, first] = last_.try_emplace(address, world.now());
    if (!first && world.now() < std::exchange(last->second, world.now()) + delay) {
      const Duration unsure = 2 * AddressTurns::horizon + settings.suspicion_time;
      if (world.parameters().views_may_differ() || (changed_ && world.now() < *changed_ + unsure)) {
        world.tolerate("impolite to an address");
      } else {
        world.fail(name(), "two requests within " + duration_text(delay) + " to the address of " + request.url +
                               ", by peer " + std::to_string(request.peer));
      }
    }
  }

 private:
  std::map<std::string, Time> last_;
  std::optional<Time> changed_;
};

}  // namespace

std::unique_ptr<Checker> make_address() { return std::make_unique<Address>(); }

}  // namespace orbweaver::sim
