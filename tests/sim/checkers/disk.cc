// No read or write fails unnoticed: a peer whose store could not read or write ends in that step. It neither crawls nor
// answers any more. (ends.cc checks its exit code.)
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
    // A disk that was repaired since has had its failed reads.
    if (world.peers()[number].reads_left && kv.failed_reads() > failed_reads_[number])
      world.fail(name(), "a read of peer " + std::to_string(number) + " failed, and it goes on");
    failed_reads_[number] = kv.failed_reads();
  }

 private:
  std::map<std::size_t, std::uint64_t> failed_;        // by peer: the last count seen
  std::map<std::size_t, std::uint64_t> failed_reads_;  // likewise
};

}  // namespace

std::unique_ptr<Checker> make_disk() { return std::make_unique<Disk>(); }

}  // namespace orbweaver::sim
