// The page limit is the ring's: without faults never more pages are fetched, and as many as exist up to it. After
// a crash a peer's allowance is only what it has used, and another peer may also spend an allowance that is in flight
// to it: counted, not failed.
#include <algorithm>

#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class PageLimit final : public Checker {
 public:
  std::string_view name() const override { return "page_limit"; }

  void stepped(World& world, std::size_t) override {
    const std::uint64_t limit = world.parameters().settings.max_pages;
    if (limit == 0) return;
    std::uint64_t fetched = 0;
    for (const SimPeer& peer : world.peers()) fetched += peer.counts.fetched;
    if (fetched <= limit || fetched == most_) return;
    most_ = fetched;
    if (world.parameters().calm() && !world.ring_moved()) {
      world.fail(name(), std::to_string(fetched) + " pages are fetched, the limit is " + std::to_string(limit));
    } else {
      world.tolerate("page above the limit");
    }
  }

 private:
  std::uint64_t most_ = 0;
};

}  // namespace

std::unique_ptr<Checker> make_page_limit() { return std::make_unique<PageLimit>(); }

}  // namespace orbweaver::sim
