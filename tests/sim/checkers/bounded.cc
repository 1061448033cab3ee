// Bounded (contract, 5): transfers of a peer, and batches in flight from one peer to another.
#include <map>

#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Bounded final : public Checker {
 public:
  std::string_view name() const override { return "bounded"; }

  void request_begun(World& world, const Request& request) override {
    const SimPeer& peer = world.peers()[request.peer];
    if (peer.requests.size() > peer.settings.values.max_fetches)
      world.fail(name(), "peer " + std::to_string(request.peer) + " has " + std::to_string(peer.requests.size()) +
                             " fetches under way");
  }

  void message_sent(World& world, std::size_t from, std::size_t to, const ring::Message& message) override {
    const auto* batch = std::get_if<ring::Batch>(&message.body);
    if (batch == nullptr) return;
    const Settings& settings = world.peers()[from].settings.values;
    Link& link = links_[{from, to}];
    if (link.generation != world.peers()[from].generation) link = {world.peers()[from].generation, {}};
    // Links, copies and transfers are limited separately.
    std::map<std::uint64_t, Time>& under_way = link.under_way[batch->kind];
    // A batch that its sender no longer waits for is not sent again, and is forgotten after its timeout.
    std::erase_if(under_way, [&](const auto& sent) { return world.now() - sent.second > settings.batch_timeout; });
    under_way[batch->sequence] = world.now();
    // A peer that restarted with a new disk may still get batches meant for its former self.
    if (under_way.size() > settings.max_batches_in_flight * (1 + world.peers()[to].disks))
      world.fail(name(), "peer " + std::to_string(from) + " has " + std::to_string(under_way.size()) +
                             " batches under way to peer " + std::to_string(to));
    if (batch->records.size() > 2 * std::size_t{settings.max_batch_records})
      world.fail(name(), "a batch of " + std::to_string(batch->records.size()) + " records");
  }

  void message_arrived(World&, std::size_t from, std::size_t to, const ring::Message& message) override {
    for (auto& [kind, under_way] : links_[{to, from}].under_way) {
      if (const auto* ack = std::get_if<ring::BatchAck>(&message.body)) under_way.erase(ack->sequence);
      if (const auto* refused = std::get_if<ring::BatchRefused>(&message.body)) under_way.erase(refused->sequence);
    }
  }

  // The sender sorts its batches again.
  void owners_changed(World&, std::size_t peer) override {
    for (auto& [ends, link] : links_)
      if (ends.first == peer) link.under_way.clear();
  }

 private:
  struct Link {
    std::uint64_t generation = 0;
    std::map<ring::BatchKind, std::map<std::uint64_t, Time>> under_way;  // by sequence: when it was last sent
  };
  std::map<std::pair<std::size_t, std::size_t>, Link> links_;
};

}  // namespace

std::unique_ptr<Checker> make_bounded() { return std::make_unique<Bounded>(); }

}  // namespace orbweaver::sim
