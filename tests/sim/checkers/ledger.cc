// A ledger that balances: a peer's counts equal a recount of its store, record by record, at any moment, also after a
// restart. (Counts makes "discovered" as the sum of the states; the recount sees that each record is in exactly one
// state.) The ring's ledger, made as "orbweaver status --ledger" makes it, shows no difference whenever every peer is
// up.
#include "node/ring_view/ledger.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

std::optional<storage::Counts> recount(storage::Store& store, std::uint32_t partitions) {
  storage::Counts counts;
  for (const std::uint16_t partition : store.partitions()) {
    const auto records = store.scan(partition, nullptr, 1'000'000);
    if (!records) return std::nullopt;
    for (const storage::Merge& merge : *records) {
      switch (merge.record.state) {
        case storage::UrlState::queued:
          ++counts.queued;
          break;
        case storage::UrlState::excluded:
          ++counts.excluded;
          break;
        case storage::UrlState::failed:
          ++counts.failed;
          break;
        case storage::UrlState::fetched:
          ++counts.fetched;
          break;
      }
    }
  }
  for (std::uint32_t partition = 0; partition < partitions; ++partition) {
    const auto entries = store.outbox_of(static_cast<std::uint16_t>(partition), 0, 1'000'000);
    if (!entries) return std::nullopt;
    counts.outbox += entries->size();
  }
  return counts;
}

namespace {

// The ring's ledger is looked at once in so many recounts: it takes the status of every peer.
constexpr std::uint64_t ring_every = 4;

class Ledger final : public Checker {
 public:
  std::string_view name() const override { return "ledger"; }

  void stepped(World& world, std::size_t number) override {
    const std::uint64_t every = world.parameters().recount_every;
    if (++steps_ % every == 0) check(world, number);
    if (steps_ % (ring_every * every) == 0) check_ring(world);
  }
  void exited(World& world, std::size_t number, const Exit&) override { check(world, number); }

 private:
  void check(World& world, std::size_t number) {
    storage::Store& store = *world.peers()[number].store;
    const auto counted = recount(store, world.parameters().settings.partitions);
    if (!counted) return world.fail(name(), "the store of peer " + std::to_string(number) + " cannot be recounted");
    if (*counted == store.counts()) return;
    const auto text = [](const storage::Counts& c) {
      return "queued " + std::to_string(c.queued) + ", fetched " + std::to_string(c.fetched) + ", failed " +
             std::to_string(c.failed) + ", excluded " + std::to_string(c.excluded) + ", outbox " +
             std::to_string(c.outbox);
    };
    world.fail(name(), "peer " + std::to_string(number) + " counts " + text(store.counts()) + "; a recount gives " +
                           text(*counted));
  }

  void check_ring(World& world) {
    nlohmann::json status = {{"peers", nlohmann::json::array()}, {"unreachable", nlohmann::json::array()}};
    std::set<std::string> rings;
    std::set<std::string> answer;
    std::map<std::string, std::string> members;  // address by identity
    for (const SimPeer& peer : world.peers()) {
      if (peer.status != Status::up || peer.may_be_refused) continue;
      nlohmann::json own = peer.core->own_status();
      answer.insert(own["id"].get<std::string>());
      rings.insert(own["ring"].get<std::string>());
      for (const nlohmann::json& member : own["members"])
        if (member["state"] != "left") members[member["id"].get<std::string>()] = member["address"].get<std::string>();
      status["peers"].push_back(std::move(own));
    }
    for (const auto& [id, address] : members)
      if (!answer.contains(id)) status["unreachable"].push_back({{"id", id}, {"address", address}});
    if (rings.size() > 1) return;
    for (const std::string& difference : ledger_of(status).differences)
      world.fail(name(), "the ring's ledger does not balance: " + difference);
  }

  std::uint64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Checker> make_ledger() { return std::make_unique<Ledger>(); }

}  // namespace orbweaver::sim
