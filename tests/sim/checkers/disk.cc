// No write fails unnoticed: a peer whose store could not write ends in that step, and goes on neither crawling nor
// answering. (With which code it ends: ends.cc.)
#include <map>

#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Disk final : public Checker {
 public:
  std::string_view name() const override { return "disk"; }

  // Not called for a step in which the peer ends.
  void stepped(World& world, std::size_t number) override {
    const storage::MemoryKv& kv = *world.peers()[number].kv;
    if (kv.failing() && kv.failed_writes() > failed_[number])
      world.fail(name(), "a write of peer " + std::to_string(number) + " failed, and it goes on");
    failed_[number] = kv.failed_writes();
  }

 private:
  std::map<std::size_t, std::uint64_t> failed_;  // by peer: as last seen
};

}  // namespace

std::unique_ptr<Checker> make_disk() { return std::make_unique<Disk>(); }

}  // namespace orbweaver::sim
