// Nothing waits longer than the longest wait there is (Retry-After and retries: an hour), whatever clocks do: while the
// crawl goes on, some page or robots.txt is asked for at least so often.
#include "node/frontier/fetch_verdict.h"
#include "node/settings/units.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

// A member that is down delays the end, and a ring heals.
constexpr Duration patience{std::chrono::minutes{30}};

class Waits final : public Checker {
 public:
  std::string_view name() const override { return "waits"; }

  void request_begun(World& world, const Request& request) override {
    judge(world, "before " + request.url + " is asked for");
    last_ = world.now();
  }
  void ended(World& world) override { judge(world, "before the end"); }

 private:
  void judge(World& world, const std::string& what) const {
    if (last_ && world.now() - *last_ > max_wait + patience)
      world.fail(name(), "nothing is asked for " + duration_text(world.now() - *last_) + " " + what);
  }

  std::optional<Time> last_;
};

}  // namespace

std::unique_ptr<Checker> make_waits() { return std::make_unique<Waits>(); }

}  // namespace orbweaver::sim
