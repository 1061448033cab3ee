// It ends (contract, 6): the first word of the end is said only when nothing is queued, in flight or in an outbox
// anywhere, down peers' stores too (under a page limit: when it is reached); every peer that has not left says so, with
// the same totals, and those are the truth.
#include <algorithm>
#include <map>

#include "node/crawl/meta_names.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Ends final : public Checker {
 public:
  std::string_view name() const override { return "ends"; }

  void message_sent(World& world, std::size_t from, std::size_t, const ring::Message& message) override {
    if (const auto* finish = std::get_if<ring::Finish>(&message.body)) said(world, from, finish->totals);
  }

  void committed(World&, const Request& request) override {
    if (request.kind == RequestKind::page) bytes_ += answer_bytes;
  }

  void exited(World& world, std::size_t number, const Exit& exit) override {
    const SimPeer& peer = world.peers()[number];
    if (peer.may_be_refused) return;
    if (peer.disk_fault && exit.code != 0) {
      const ErrorCode right = *peer.disk_fault == storage::ErrorKind::disk_full ? ErrorCode::disk_full : ErrorCode::io;
      if (exit.code != static_cast<int>(right))
        world.fail(name(), "peer " + std::to_string(number) + ", whose disk failed, exits with " +
                               std::to_string(exit.code) + ": " + exit.message);
      return;
    }
    // It came when the others were gone already.
    if (exit.code == static_cast<int>(ErrorCode::unreachable))
      for (const auto& [what, is] : {std::pair(meta_name::ring, false), std::pair(meta_name::left, true)})
        if (const auto found = peer.store->meta(what); found && found->has_value() == is) return;
    if (exit.message.find("the crawl has ended") != std::string::npos) return;
    if (exit.message.find("holds nothing of theirs") != std::string::npos && peer.counts.discovered() == 0) return;
    if (exit.code != 0)
      return world.fail(
          name(), "peer " + std::to_string(number) + " exits with " + std::to_string(exit.code) + ": " + exit.message);
    if (exit.finished) return said(world, number, exit.totals);
    // Nobody stayed to hand over to: it says so, and what it holds is on its disk.
    const auto& peers = world.peers();
    const bool alone = std::none_of(peers.begin(), peers.end(), [&](const SimPeer& other) {
      return other.number != number && other.status == Status::up && !other.leaving;
    });
    if (peer.leaving && alone && exit.message.find("remain in the data directory") != std::string::npos) return;
    if (peer.leaving && (peer.counts.discovered() > 0 || peer.counts.outbox > 0))
      return world.fail(name(), "peer " + std::to_string(number) + " has left and still holds " +
                                    std::to_string(peer.counts.discovered()) + " URLs");
    if (!peer.leaving && !peer.restart_after)
      world.fail(name(), "peer " + std::to_string(number) + " exits unasked: " + exit.message);
  }

 private:
  // Each partition as its holder has it: the peer of the largest tenure, up or not.
  static storage::Counts held_in_all(World& world) {
    std::map<std::string, std::pair<std::string, std::size_t>> holders;  // tenure by partition, whose store
    std::vector<storage::Store> stores;
    for (SimPeer& peer : world.peers()) {
      auto store = storage::Store::open(*peer.kv);
      if (!store) continue;
      const auto id = store->meta(meta_name::peer);
      const auto tenures = store->meta_rows(std::string(tenure_prefix));
      if (id && *id && tenures) {
        const auto self = ring::PeerId::from_hex(**id);
        for (const auto& [partition, row] : *tenures) {
          auto& [largest, at] = holders[partition];
          const bool own = self && std::equal(self->bytes.begin(), self->bytes.end(),
                                              reinterpret_cast<const std::uint8_t*>(row.data()) + 8);
          if (row > largest || (row == largest && own)) {
            if (row > largest) at = SIZE_MAX;
            largest = row;
            if (own) at = stores.size();
          }
        }
      }
      stores.push_back(std::move(*store));
    }
    storage::Counts sum;
    for (const auto& [partition, holder] : holders) {
      if (holder.second == SIZE_MAX) continue;
      const auto number = static_cast<std::uint16_t>(static_cast<std::uint8_t>(partition[0]) << 8 |
                                                     static_cast<std::uint8_t>(partition[1]));
      const storage::Counts counts = stores[holder.second].counts(number);
      sum.queued += counts.queued;
      sum.fetched += counts.fetched;
      sum.failed += counts.failed;
      sum.excluded += counts.excluded;
    }
    return sum;
  }

  void said(World& world, std::size_t from, const std::map<std::string, std::uint64_t>& totals) {
    if (!totals_.empty()) {
      if (totals == totals_) return;
      return world.fail(name(), "peer " + std::to_string(from) + " tells of other totals than the one before");
    }
    totals_ = totals;
    storage::Counts sum = held_in_all(world);
    std::size_t open = 0;
    for (const SimPeer& peer : world.peers()) {
      sum.outbox += peer.counts.outbox;
      open += peer.requests.size();
    }
    const std::uint64_t limit = world.parameters().settings.max_pages;
    const std::uint64_t bytes = world.parameters().settings.max_bytes;
    const bool reached = (limit > 0 && sum.fetched >= limit) || (bytes > 0 && bytes_ >= bytes);
    if (open > 0 || sum.outbox > 0 || (sum.queued > 0 && !reached))
      return world.fail(name(), "peer " + std::to_string(from) + " says that the crawl has ended, with " +
                                    std::to_string(sum.queued) + " queued, " + std::to_string(open) + " in flight, " +
                                    std::to_string(sum.outbox) + " in outboxes");
    const std::map<std::string, std::uint64_t> truth = {
        {"fetched", sum.fetched}, {"failed", sum.failed}, {"excluded", sum.excluded}, {"queued", sum.queued}};
    for (const auto& [what, number] : truth) {
      const auto told = totals.find(what);
      // The end was found before the disk was lost; the copies of what it held are nobody's yet.
      if (told != totals.end() && told->second > number && world.disk_lost_just_now()) {
        world.tolerate("totals with what a lost disk held");
        continue;
      }
      if (told == totals.end() || told->second != number)
        return world.fail(name(), "the totals tell of " + (told == totals.end() ? "no" : std::to_string(told->second)) +
                                      " " + what + ", the stores hold " + std::to_string(number));
    }
  }
  std::map<std::string, std::uint64_t> totals_;
  std::uint64_t bytes_ = 0;  // of pages
};

}  // namespace

std::unique_ptr<Checker> make_ends() { return std::make_unique<Ends>(); }

}  // namespace orbweaver::sim
