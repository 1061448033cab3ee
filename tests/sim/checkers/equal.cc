// Copies agree at the end (contract, 1; decision 26, 8): each record that any disk has is on the disk of the holder of
// its partition, joined with all others; with replicas it is on another disk, too, as the holder has it. Holders are
// those of the largest tenures. Lost disks have been replaced by then, but for one that was lost as the crawl ended.
// Sides that may end alone end the check. A
// peer that leaves while the crawl ends has handed its copies over, or was about to.
#include <algorithm>
#include <map>

#include "node/crawl/meta_names.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Equal final : public Checker {
 public:
  std::string_view name() const override { return "equal"; }

  void ended(World& world) override {
    if (world.sides_may_end_alone()) return;
    if (!read(world)) return;
    const auto finished = std::count_if(world.peers().begin(), world.peers().end(), [](const SimPeer& peer) {
      return peer.exit && peer.exit->finished && !peer.leaving;
    });
    const bool alone = world.stats().faults.contains("an end of another side");
    const bool copied =
        world.parameters().settings.replicas > 1 && finished > 1 && !alone && !world.disk_lost_as_it_ended();
    for (const auto& [partition, records] : known_)
      for (const auto& [url, on] : records) look_at(world, partition, url, on, copied);
  }

 private:
  using OnDisks = std::map<std::size_t, storage::UrlRecord>;  // by peer

  bool read(World& world) {
    for (SimPeer& peer : world.peers()) {
      if (peer.may_be_refused) continue;
      auto store = storage::Store::open(*peer.kv);
      if (!store) return world.fail(name(), store.error().message), false;
      for (const std::uint16_t partition : store->partitions()) {
        const auto records = store->scan(partition, nullptr, 1'000'000);
        if (!records) return world.fail(name(), records.error().message), false;
        for (const storage::Merge& merge : *records) known_[partition][merge.record.url][peer.number] = merge.record;
      }
      const auto id = store->meta(meta_name::peer);
      const auto tenures = store->meta_rows(std::string(tenure_prefix));
      if (!id || !*id || !tenures) continue;
      ids_[peer.number] = **id;
      for (const auto& [partition, row] : *tenures) {
        const auto number = static_cast<ring::Partition>(static_cast<std::uint8_t>(partition[0]) << 8 |
                                                         static_cast<std::uint8_t>(partition[1]));
        tenures_[number] = std::max(tenures_[number], row);
      }
    }
    return true;
  }

  // The peer whose tenure is the largest.
  std::optional<std::size_t> holder(ring::Partition partition) const {
    const auto tenure = tenures_.find(partition);
    if (tenure == tenures_.end()) return {};
    for (const auto& [number, hex] : ids_) {
      const auto id = ring::PeerId::from_hex(hex);
      if (id && std::equal(id->bytes.begin(), id->bytes.end(),
                           reinterpret_cast<const std::uint8_t*>(tenure->second.data()) + 8))
        return number;
    }
    return {};
  }

  void look_at(World& world, ring::Partition partition, const std::string& url, const OnDisks& on, bool copied) {
    const std::optional<std::size_t> at = holder(partition);
    const auto held = at ? on.find(*at) : on.end();
    if (held == on.end() && world.disk_lost_as_it_ended()) return;  // it may be that disk; another has it
    if (held == on.end()) return world.fail(name(), url + " is not on the disk of its holder");
    storage::UrlRecord all = held->second;
    for (const auto& [number, record] : on) all = storage::merge(all, record);
    const auto differs = [&](const storage::UrlRecord& record) {
      return record.state != all.state || record.visit != all.visit;
    };
    const std::string told = url + " is " + std::string(storage::state_name(all.state)) + ", and ";
    if (differs(held->second))
      return world.fail(name(), told + "its holder, peer " + std::to_string(*at) + ", has it as " +
                                    std::string(storage::state_name(held->second.state)));
    const bool twice = std::any_of(on.begin(), on.end(),
                                   [&](const auto& entry) { return entry.first != *at && !differs(entry.second); });
    if (copied) world.count("copy compared at the end");
    if (copied && !twice) world.fail(name(), told + "only its holder, peer " + std::to_string(*at) + ", knows");
  }

  std::map<ring::Partition, std::map<std::string, OnDisks>> known_;
  std::map<std::size_t, std::string> ids_;  // by peer, in hexadecimal digits
  std::map<ring::Partition, std::string> tenures_;
};

}  // namespace

std::unique_ptr<Checker> make_equal() { return std::make_unique<Equal>(); }

}  // namespace orbweaver::sim
