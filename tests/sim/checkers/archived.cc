// Under durability = power a page counts as fetched when its record is on the disk, and not before: whatever power cuts
// take, each URL that is fetched in a store has a record in an archive.
#include <set>

#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Archived final : public Checker {
 public:
  std::string_view name() const override { return "archived"; }

  void committed(World& world, const Request& request) override {
    if (!applies(world) || request.record == 0) return;
    if (!world.peers()[request.peer].archive->on_disk(request.record))
      world.fail(name(), "peer " + std::to_string(request.peer) + " counts " + request.url +
                             ", and its record is not on the disk");
  }

  void ended(World& world) override {
    if (!applies(world) || world.disks_lost()) return;
    std::set<std::string> archived;
    for (const SimPeer& peer : world.peers())
      for (const std::string& url : peer.archive->records())
        if (const Result<CanonicalUrl> page = CanonicalUrl::parse(base_of(url))) archived.insert(page->text());
    for (const SimPeer& peer : world.peers()) {
      auto store = storage::Store::open(*peer.kv);
      if (!store) return world.fail(name(), store.error().message);
      for (const std::uint16_t partition : store->partitions()) {
        const auto records = store->scan(partition, nullptr, 1'000'000);
        if (!records) return world.fail(name(), records.error().message);
        for (const storage::Merge& merge : *records)
          if (merge.record.state == storage::UrlState::fetched && !archived.contains(merge.record.url))
            return world.fail(name(), merge.record.url + " is fetched, and in no archive");
      }
    }
  }

 private:
  static bool applies(const World& world) { return world.parameters().settings.durability == Durability::power; }
};

}  // namespace

std::unique_ptr<Checker> make_archived() { return std::make_unique<Archived>(); }

}  // namespace orbweaver::sim
