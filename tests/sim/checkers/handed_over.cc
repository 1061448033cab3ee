// A hand-off gives all: when the holder names the next one, that one knows of each page of the partition how it ended.
// Else it asks for pages again, and what is returned later comes too late. A link that the holder is given meanwhile
// may come later, also one that is excluded without a request: the next holder decides so, too.
#include <algorithm>
#include <map>

#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class HandedOver final : public Checker {
 public:
  std::string_view name() const override { return "handed_over"; }

  // A holder's decision leaves it as a Sync, before any other message tells of that tenure.
  void message_sent(World& world, std::size_t from, std::size_t, const ring::Message& message) override {
    const bool sync = std::holds_alternative<ring::Sync>(message.body);
    std::visit(
        [&](const auto& body) {
          if constexpr (requires { body.tenures; })
            for (const auto& [partition, tenure] : body.tenures)
              if (told(partition, tenure, message.from) && sync)
                check(world, world.peers()[from], partition, tenure.holder);
        },
        message.body);
  }

 private:
  // True: this is news, and the teller hands the partition over.
  bool told(ring::Partition partition, const ring::Tenure& tenure, const ring::PeerId& by) {
    ring::Tenure& known = known_.try_emplace(partition, ring::Tenure{1, {}}).first->second;
    if (tenure <= known) return false;
    const bool handed =
        tenure.holder != by && tenure.epoch == known.epoch + 1 && (known.epoch == 1 || known.holder == by);
    known = tenure;
    return handed;
  }

  // Whether the state came of a request for the page.
  static bool asked(const storage::UrlRecord& record) {
    if (record.state == storage::UrlState::excluded) return record.reason == storage::Reason::content_type;
    return record.state != storage::UrlState::queued;
  }

  void check(World& world, const SimPeer& from, ring::Partition partition, const ring::PeerId& holder) {
    const auto next = std::find_if(world.peers().begin(), world.peers().end(), [&](const SimPeer& peer) {
      return peer.core != nullptr && peer.core->id() == holder;
    });
    if (next == world.peers().end() || world.copies_may_lack()) return;
    const auto records = from.store->scan(partition, nullptr, 1'000'000);
    if (!records) return world.fail(name(), records.error().message);
    world.count("partition handed over");
    for (const storage::Merge& merge : *records) {
      const auto theirs = next->store->find(merge.key);
      if (!theirs) return world.fail(name(), theirs.error().message);
      if (!asked(merge.record)) continue;
      const bool has =
          *theirs && ((*theirs)->state != storage::UrlState::queued || (*theirs)->visit > merge.record.visit);
      if (!has)
        return world.fail(name(), "peer " + std::to_string(from.number) + " hands partition " +
                                      std::to_string(partition) + " to peer " + std::to_string(next->number) +
                                      ", which does not know the outcome of " + merge.record.url + ": " +
                                      std::string(state_name(merge.record.state)) + " " +
                                      std::string(reason_name(merge.record.reason)));
    }
  }

  // The first holder makes the ring with epoch 1, and says so to each newcomer in its welcome.
  std::map<ring::Partition, ring::Tenure> known_;
};

}  // namespace

std::unique_ptr<Checker> make_handed_over() { return std::make_unique<HandedOver>(); }

}  // namespace orbweaver::sim
