// Checkpoints, as node/process/snapshot_saver.cc makes them: of one moment, some time after they are asked for, while
// the peer goes on. What a process had begun dies with it.
#include <nlohmann/json.hpp>

#include "node/snapshot/manifest.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

constexpr Duration max_making{std::chrono::seconds{2}};
constexpr Duration max_listing{std::chrono::seconds{1}};

}  // namespace

void World::make_checkpoint(std::size_t number, const MakeCheckpoint& wanted) {
  const std::uint64_t generation = peers_[number].generation;
  const std::string snapshot = wanted.snapshot;
  const auto tell_peer = [this, number, generation](auto event) {
    const auto deliver = [this, number, generation, event] {
      if (peers_[number].generation == generation) step(number, event);
    };
    if (peers_[number].generation == generation && !wait_until_it_goes_on(number, deliver)) deliver();
  };
  const auto list = [this, number, snapshot, tell_peer] {
    SnapshotListing listing;
    listing.path = "/peer-" + std::to_string(number) + "/snapshots/" + snapshot;
    listing.files = {{.name = "store/CURRENT", .bytes = 16, .sha256 = std::string(64, '0')}};
    tell_peer(CheckpointListed{snapshot, "", listing_json(listing).dump()});
  };
  const auto make = [this, number, generation, snapshot, tell_peer, list] {
    SimPeer& peer = peers_[number];
    if (peer.generation != generation || peer.status != Status::up) return;
    if (peer.disk_fault) return tell_peer(CheckpointMade{snapshot, "the disk fails"});
    peer.checkpoints[snapshot] = std::make_shared<storage::MemoryKv>(*peer.kv);
    tell_peer(CheckpointMade{snapshot, ""});
    schedule(now_ + random_.between(Duration{}, max_listing), list);
  };
  schedule(now_ + random_.between(Duration{}, max_making), make);
}

}  // namespace orbweaver::sim
