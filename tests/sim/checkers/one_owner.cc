// One owner (contract, 4): while a peer asks a host, no other peer that is up would ask it. There are exceptions only
// where the run's faults make living peers look dead (cuts, pauses, bad networks), or after a take-over of a partition
// without a second copy. A repeated or early fetch in such a partition is counted, not failed. Nor does a peer ask in
// an older epoch than another has. Here a power cut is an exception too: it may take a hand-over, and who knows of it
// may be down. So may, without second copies, be the only one that knows of its take-over.
#include <algorithm>
#include <map>

#include "ring/hash_ring.h"
#include "ring/md5.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class OneOwner final : public Checker {
 public:
  std::string_view name() const override { return "one_owner"; }

  void request_begun(World& world, const Request& request) override {
    if (request.elsewhere) return;  // in a turn that the host's holder lends: checkers/polite.cc
    const auto of_request = world.partition_of(request);
    if (!of_request) return;
    const ring::Partition partition = *of_request;
    const SimPeer& asker = world.peers()[request.peer];
    const bool taken_without_a_copy = world.parameters().settings.replicas < 2 && world.stats().taken_over > 0;
    if (taken_without_a_copy) world.held_twice(partition);
    for (const SimPeer& other : world.peers()) {
      if (other.number == asker.number || other.core == nullptr) continue;
      const bool excused = world.parameters().living_may_look_dead();
      if (excused ? other.core->tenures().of(partition).holder != other.core->id() : !other.core->fetches(partition))
        continue;
      if (!excused)
        return world.fail(name(), "peer " + std::to_string(asker.number) + " asks for " + request.url + ", and peer " +
                                      std::to_string(other.number) + " holds its partition too");
      world.tolerate("two holders");
      world.held_twice(partition);
    }
    const std::uint64_t epoch = asker.core->tenures().of(partition).epoch;
    std::uint64_t& latest = latest_[partition];
    if (epoch < latest) {
      if (!asker.forgot_writes && !taken_without_a_copy && !world.parameters().living_may_look_dead())
        return world.fail(name(), "peer " + std::to_string(asker.number) + " asks for " + request.url + " in epoch " +
                                      std::to_string(epoch) + ", and one has asked in " + std::to_string(latest));
      world.tolerate("asked in an older epoch");
      world.held_twice(partition);
    }
    latest = std::max(latest, epoch);
  }

 private:
  std::map<ring::Partition, std::uint64_t> latest_;  // epochs
};

}  // namespace

std::unique_ptr<Checker> make_one_owner() { return std::make_unique<OneOwner>(); }

}  // namespace orbweaver::sim
