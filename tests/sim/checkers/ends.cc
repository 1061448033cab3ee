// It ends (contract, 6). The first message that the end is decided comes only when nothing is queued, in flight or in
// an outbox anywhere, in down peers' stores too (under a page limit: when it is reached). Every peer that has not left
// reports the end, with the same totals, and those totals are true. After a cut for longer than presume_dead_after,
// each side may end alone: this goes for each side then. So may a peer that was down when the end was decided, and
// comes back after all others have exited.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "node/crawl/meta_names.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Ends final : public Checker {
 public:
  std::string_view name() const override { return "ends"; }

  void message_sent(World& world, std::size_t from, std::size_t, const ring::Message& message) override {
    if (const auto* word = std::get_if<ring::Sync>(&message.body); word != nullptr && word->members.size() == 1 &&
                                                                   word->members[0].id == message.from &&
                                                                   word->members[0].state == ring::MemberState::left)
      left_alone_.try_emplace({from, world.peers()[from].generation}, alone(world, from));
    if (const auto* finish = std::get_if<ring::Finish>(&message.body);
        finish != nullptr && finish->stage == ring::EndStage::decided)
      said(world, from, finish->totals);
  }

  void request_begun(World& world, const Request& request) override { last_request_[request.peer] = world.now(); }

  void committed(World&, const Request& request) override {
    if (request.kind == RequestKind::page) bytes_ += answer_bytes;
  }

  void exited(World& world, std::size_t number, const Exit& exit) override {
    const SimPeer& peer = world.peers()[number];
    if (peer.copy && exit.code != static_cast<int>(ErrorCode::in_use) && !exit.finished)
      world.fail(name(), "peer " + std::to_string(number) + ", whose directory is a copy, exits with " +
                             std::to_string(exit.code) + ": " + exit.message);
    if (peer.may_be_refused) return;
    if (peer.leaving && exit.code == static_cast<int>(ErrorCode::unreachable) &&
        exit.message.find("stopped, not left: ") != std::string::npos)
      return;
    if (peer.disk_fault && exit.code != 0) {
      const ErrorCode right = *peer.disk_fault == storage::ErrorKind::disk_full ? ErrorCode::disk_full : ErrorCode::io;
      if (exit.code != static_cast<int>(right))
        world.fail(name(), "peer " + std::to_string(number) + ", whose disk failed, exits with " +
                               std::to_string(exit.code) + ": " + exit.message);
      return;
    }
    // It started when the others had ended already.
    if (exit.code == static_cast<int>(ErrorCode::unreachable))
      for (const auto& [what, is] : {std::pair(meta_name::ring, false), std::pair(meta_name::left, true)})
        if (const auto found = peer.store->meta(what); found && found->has_value() == is) return;
    if (exit.message.find("the crawl has ended") != std::string::npos) return;
    if (exit.message.find("holds nothing of theirs") != std::string::npos && peer.counts.discovered() == 0) return;
    if (exit.code != 0)
      return world.fail(
          name(), "peer " + std::to_string(number) + " exits with " + std::to_string(exit.code) + ": " + exit.message);
    if (exit.finished) return said(world, number, exit.totals);
    // No peer stayed to hand over to: the leaver says so, and its records remain on its disk.
    const auto told = left_alone_.find({number, peer.generation});
    const bool was_alone = told != left_alone_.end() ? told->second : alone(world, number);
    if (peer.leaving && was_alone && exit.message.find("remain in the data directory") != std::string::npos) return;
    if (peer.leaving && (peer.counts.discovered() > 0 || peer.counts.outbox > 0))
      return world.fail(name(), "peer " + std::to_string(number) + " has left and still holds " +
                                    std::to_string(peer.counts.discovered()) + " URLs");
    if (!peer.leaving && !peer.restart_after)
      world.fail(name(), "peer " + std::to_string(number) + " exits unasked: " + exit.message);
  }

 private:
  static bool has_joined(const SimPeer& peer) {
    const auto ring = peer.store->meta(meta_name::ring);
    return !ring || ring->has_value();
  }

  // A peer that was let in, and cut off before the ring took it for a member. It has nothing but links to the seeds.
  static bool has_seeds_alone(World& world, std::size_t number) {
    const SimPeer& peer = world.peers()[number];
    if (peer.core != nullptr || peer.counts.discovered() > 0) return false;
    auto store = storage::Store::open(*peer.kv);
    const std::vector<std::string>& seeds = world.seeds();
    for (std::uint32_t partition = 0; store && partition < world.parameters().settings.partitions; ++partition) {
      const auto links = store->outbox_of(static_cast<ring::Partition>(partition), 0, peer.counts.outbox);
      if (!links) return false;
      for (const storage::OutboxEntry& link : *links)
        if (const auto record = storage::decode_record(link.record);
            !record || std::find(seeds.begin(), seeds.end(), record->url) == seeds.end())
          return false;
    }
    return store.has_value();
  }

  // Nobody is there to hand over to. Where another cannot be heard, this peer may not know yet that it stays: it was
  // leaving before it was started again.
  static bool alone(World& world, std::size_t number) {
    return std::none_of(world.peers().begin(), world.peers().end(), [&](const SimPeer& other) {
      return other.number != number && other.status == Status::up && !other.leaving && has_joined(other) &&
             world.cut_between(other.number, number) == nullptr && !presumed_dead(world, number, other.number);
    });
  }

  // Also a moment after such a cut: they have not met again yet.
  static bool presumed_dead(World& world, std::size_t number, std::size_t other) {
    for (const Fault* cut : {world.cut_between(number, other), world.cut_between(other, number)})
      if (cut != nullptr && world.since_start() - cut->at > world.parameters().settings.presume_dead_after) return true;
    return world.sides_may_end_alone() && !side_of(world, number).contains(other);
  }

  // The members that this peer counts neither as down nor as left, for one that left may know the other side's tenures;
  // all peers, where no side may end alone.
  static std::set<std::size_t> side_of(World& world, std::size_t from) {
    std::set<std::size_t> side;
    const bool all = !world.sides_may_end_alone() || world.peers()[from].core == nullptr;
    std::set<std::string> near;
    if (!all) {
      const nlohmann::json status = world.peers()[from].core->own_status();
      for (const nlohmann::json& member : status["members"])
        if (member["state"] != "down" && member["state"] != "left") near.insert(member["address"].get<std::string>());
    }
    for (const SimPeer& peer : world.peers())
      if (all || near.contains(peer.address)) side.insert(peer.number);
    return side;
  }

  // The sum over all partitions, each counted at its holder: the peer of the largest tenure, up or not.
  static storage::Counts held_in_all(World& world, const std::set<std::size_t>& side) {
    std::map<std::string, std::string> largest;  // tenure by partition
    std::vector<storage::Store> stores;
    std::vector<ring::PeerId> ids;  // of these
    for (SimPeer& peer : world.peers()) {
      if (!side.contains(peer.number) || peer.may_be_refused) continue;
      auto store = storage::Store::open(*peer.kv);
      if (!store) continue;
      const auto id = store->meta(meta_name::peer);
      const auto tenures = store->meta_rows(std::string(tenure_prefix));
      const auto self = id && *id ? ring::PeerId::from_hex(**id) : std::nullopt;
      if (!self || !tenures) continue;
      for (const auto& [partition, row] : *tenures) largest[partition] = std::max(largest[partition], row);
      ids.push_back(*self);
      stores.push_back(std::move(*store));
    }
    storage::Counts sum;
    for (const auto& [partition, tenure] : largest) {
      // It may not know yet that it holds the partition: it has all of it, and the word is under way.
      const auto holder = std::find_if(ids.begin(), ids.end(), [&tenure = tenure](const ring::PeerId& one) {
        return std::equal(one.bytes.begin(), one.bytes.end(), reinterpret_cast<const std::uint8_t*>(tenure.data()) + 8);
      });
      if (holder == ids.end()) continue;
      const auto number = static_cast<std::uint16_t>(static_cast<std::uint8_t>(partition[0]) << 8 |
                                                     static_cast<std::uint8_t>(partition[1]));
      const storage::Counts counts = stores[static_cast<std::size_t>(holder - ids.begin())].counts(number);
      sum.queued += counts.queued;
      sum.fetched += counts.fetched;
      sum.failed += counts.failed;
      sum.excluded += counts.excluded;
    }
    return sum;
  }

  // It was down when the end was decided, and when it was started again nobody was there any more who could tell it so.
  // What others had fetched it fetches again, if they alone had it. If there was nothing to fetch, it tells of the
  // totals that it agreed to.
  bool came_back_alone(World& world, std::size_t number) const {
    const Time started = world.peers()[number].started;
    const auto fetched = last_request_.find(number);
    return down_at_end_.contains(number) && fetched != last_request_.end() && fetched->second >= started &&
           std::all_of(world.peers().begin(), world.peers().end(), [&](const SimPeer& peer) {
             return peer.number == number || (peer.status == Status::gone && peer.ended <= started);
           });
  }

  static std::string difference(const std::map<std::string, std::uint64_t>& totals,
                                const std::map<std::string, std::uint64_t>& before) {
    std::string text;
    for (const auto& [key, number] : totals)
      if (const auto found = before.find(key); found == before.end() || found->second != number)
        text += " " + key + " " + std::to_string(number) + ", not " +
                (found == before.end() ? "told" : std::to_string(found->second));
    return text;
  }

  void said(World& world, std::size_t from, const std::map<std::string, std::uint64_t>& totals) {
    if (totals_.contains(totals)) return;
    if (totals_.empty())
      for (const SimPeer& peer : world.peers())
        if (peer.status == Status::down) down_at_end_.insert(peer.number);
    const bool alone = !totals_.empty() && !world.sides_may_end_alone();
    if (alone && !came_back_alone(world, from))
      return world.fail(name(), "peer " + std::to_string(from) + " tells of other totals than the one before:" +
                                    difference(totals, *totals_.begin()));
    if (!alone) totals_.insert(totals);
    if (totals_.size() > 1 || alone) world.count("an end of another side");
    const std::set<std::size_t> side = side_of(world, from);
    storage::Counts sum = held_in_all(world, side);
    std::size_t open = 0;
    for (const SimPeer& peer : world.peers()) {
      if (!side.contains(peer.number) || peer.copy || has_seeds_alone(world, peer.number)) continue;
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
      const auto reported = totals.find(what);
      // The end was found before the disk was lost; no peer owns the copies of its records yet.
      if (reported != totals.end() && reported->second > number &&
          (world.disk_lost_just_now() || world.disk_lost_as_it_ended())) {
        world.tolerate("totals with what a lost disk held");
        continue;
      }
      if (reported == totals.end() || reported->second != number)
        return world.fail(name(), "the totals say " +
                                      (reported == totals.end() ? "no" : std::to_string(reported->second)) + " " +
                                      what + ", the stores hold " + std::to_string(number));
    }
  }
  std::set<std::map<std::string, std::uint64_t>> totals_;  // of each side
  std::set<std::size_t> down_at_end_;                      // when the first totals were told
  std::map<std::size_t, Time> last_request_;               // by peer
  // By peer and its life: whether it was alone when it said that it has left. It repeats that until it is answered.
  std::map<std::pair<std::size_t, std::uint64_t>, bool> left_alone_;
  std::uint64_t bytes_ = 0;  // of pages
};

}  // namespace

std::unique_ptr<Checker> make_ends() { return std::make_unique<Ends>(); }

}  // namespace orbweaver::sim
