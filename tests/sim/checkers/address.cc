// One polite guest (issue 4, 6): from the server's side, a request reserves its address for address_delay, or for its
// host's delay where that is shorter. This binds the next request of any host and any peer. Hosts without a delay do
// not count. While owners change (and their views may differ) two peers may grant slots. Breaches are then counted, not
// failed, until these slots are used up.
#include <map>

#include "node/scheduling/address_slots.h"
#include "node/settings/units.h"
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
    const Duration delay = std::min(settings.address_delay, world.parameters().delay_of(request.host));
    if (delay == Duration{}) return;
    const std::string address = world.web().address_of(request.host);
    const Time kept = std::exchange(kept_[address], world.now() + delay);
    if (world.now() < kept) {
      const Duration unsure = 2 * AddressSlotBook::horizon + settings.suspicion_time;
      if (world.parameters().views_may_differ() || (changed_ && world.now() < *changed_ + unsure)) {
        world.tolerate("impolite to an address");
      } else {
        world.fail(name(), duration_text(kept - world.now()) + " too early to the address of " + request.url +
                               ", by peer " + std::to_string(request.peer));
      }
    }
  }

 private:
  std::map<std::string, Time> kept_;  // by address: reserved until then
  std::optional<Time> changed_;
};

}  // namespace

std::unique_ptr<Checker> make_address() { return std::make_unique<Address>(); }

}  // namespace orbweaver::sim
