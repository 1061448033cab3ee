// What is acknowledged is kept (contract, 1; decisions 4 and 11). When a batch is acknowledged, each of its records is
// on a disk; with replicas on two, unless the acknowledging peer knows no other. When a holder lets a peer drop its
// copy of a partition, each of its records is on as many other disks as `replicas` says, or as there are members. Down
// peers' disks count. After a disk was lost it pauses until the copies are made again.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "node/crawl/partitioner.h"
#include "node/replication/partition_manager.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

struct Sent {
  storage::UrlKey key;
  storage::UrlRecord record;
};

class Copies final : public Checker {
 public:
  std::string_view name() const override { return "copies"; }

  void message_sent(World& world, std::size_t from, std::size_t to, const ring::Message& message) override {
    if (const auto* batch = std::get_if<ring::Batch>(&message.body)) {
      batches_[{from, to, batch->sequence}] = records_of(world, *batch);
    } else if (const auto* roots = std::get_if<ring::Roots>(&message.body)) {
      // After a disk was lost the peer counts anew.
      questions_.erase({from, to, roots->sequence});
      if (roots->kind == ring::TransferKind::release)
        questions_[{from, to, roots->sequence}] = {roots->roots, tenures_at(world.peers()[from], *roots)};
    } else if (const auto* ack = std::get_if<ring::BatchAck>(&message.body)) {
      if (auto sent = batches_.extract({to, from, ack->sequence}); !sent.empty() && !world.copies_may_lack())
        acknowledged(world, from, sent.mapped());
    } else if (const auto* compared = std::get_if<ring::RootsCompared>(&message.body)) {
      if (auto asked = questions_.extract({to, from, compared->sequence}); !asked.empty() && !world.copies_may_lack())
        permitted(world, from, to, asked.mapped(), *compared);
    }
  }

 private:
  using Exchange = std::tuple<std::size_t, std::size_t, std::uint64_t>;  // who asks, who answers, its number

  static std::vector<Sent> records_of(const World& world, const ring::Batch& batch) {
    Partitioner partitioner(world.parameters().settings.partition_by, world.parameters().settings.partitions);
    std::vector<Sent> found;
    for (const ring::BatchRecord& entry : batch.records) {
      if (storage::wire_kind(entry.record) != storage::WireKind::record) continue;
      auto record = storage::decode_record(entry.record);
      const Result<CanonicalUrl> url = record ? CanonicalUrl::of_stored(record->url) : CanonicalUrl::of_stored("");
      if (record && url) found.push_back({{partitioner.host_key(*url), url->digest()}, std::move(*record)});
    }
    return found;
  }

  // Peers that the peer's ring names, itself among them, without those that leave. A joiner that does not answer is a
  // suspect like others, and keeps no copies.
  static std::size_t members_of(World& world, const SimPeer& peer) {
    if (peer.core == nullptr) return 1;
    std::set<std::string> in_ring;
    if (const ring::HashRing& ring = peer.core->ring(); !ring.empty())
      for (const ring::PeerId& id : ring.owners(0, SIZE_MAX)) in_ring.insert(id.hex());
    std::set<std::string> there;
    const nlohmann::json status = peer.core->own_status();
    for (const nlohmann::json& member : status["members"])
      if (in_ring.contains(member["id"])) there.insert(member["address"]);
    return static_cast<std::size_t>(
        std::count_if(world.peers().begin(), world.peers().end(),
                      [&](const SimPeer& other) { return !other.leaving && there.contains(other.address); }));
  }

  // Disks other than that of `but` with the record, or with what came of it.
  static std::size_t disks_with(World& world, const storage::UrlKey& key, const storage::UrlRecord& record,
                                std::size_t but) {
    std::size_t disks = 0;
    for (SimPeer& peer : world.peers()) {
      if (peer.number == but || peer.kv == nullptr) continue;
      storage::Result<std::optional<storage::UrlRecord>> found = std::optional<storage::UrlRecord>();
      if (peer.store != nullptr) {
        found = peer.store->find(key);
      } else if (auto store = storage::Store::open(*peer.kv); store) {
        found = store->find(key);
      }
      if (!found || !*found) continue;
      const bool ended = (*found)->state != storage::UrlState::queued || (*found)->visit > record.visit;
      if (ended || record.state == storage::UrlState::queued || record.state == storage::UrlState::excluded) ++disks;
    }
    return disks;
  }

  void acknowledged(World& world, std::size_t from, const std::vector<Sent>& batch) {
    for (const auto& [key, record] : batch) {
      const std::size_t disks = disks_with(world, key, record, SIZE_MAX);
      if (disks >= 2 || (disks == 1 && world.parameters().settings.replicas < 2)) continue;
      if (disks == 1 && members_of(world, world.peers()[from]) < 2) continue;
      return world.fail(name(), "peer " + std::to_string(from) + " acknowledges " + record.url + " (" +
                                    std::string(state_name(record.state)) + "), which is on " + std::to_string(disks) +
                                    " disks");
    }
  }

  struct Question {
    std::vector<ring::PartitionDigest> roots;
    std::vector<std::string> tenures;  // of each of these, as the asking peer's disk has it
  };
  static std::string tenure_at(const SimPeer& peer, ring::Partition partition) {
    const auto row = peer.store->meta(tenure_row({partition, {}}).first);
    return row ? row->value_or("") : "";
  }
  static std::vector<std::string> tenures_at(const SimPeer& peer, const ring::Roots& roots) {
    std::vector<std::string> rows;
    for (const ring::PartitionDigest& entry : roots.roots)
      rows.push_back(peer.store == nullptr ? "" : tenure_at(peer, entry.partition));
    return rows;
  }

  void permitted(World& world, std::size_t holder, std::size_t to, const Question& question,
                 const ring::RootsCompared& compared) {
    const SimPeer& dropper = world.peers()[to];
    if (dropper.store == nullptr) return;
    const auto in = [](const std::vector<ring::Partition>& list, ring::Partition partition) {
      return std::find(list.begin(), list.end(), partition) != list.end();
    };
    for (std::size_t i = 0; i < question.roots.size(); ++i) {
      const ring::Partition partition = question.roots[i].partition;
      if (in(compared.differ, partition) || in(compared.later, partition)) continue;
      // A peer that has learned of another tenure since takes no answer to this question (Transfers::begin_anew). One
      // that stood still meanwhile gives it.
      if (tenure_at(dropper, partition) != question.tenures[i]) continue;
      const auto records = dropper.store->scan(partition, nullptr, 1'000'000);
      if (!records) return world.fail(name(), records.error().message);
      for (const storage::Merge& merge : *records) {
        const std::size_t disks = disks_with(world, merge.key, merge.record, to);
        if (disks >= world.parameters().settings.replicas || disks >= members_of(world, world.peers()[holder]))
          continue;
        return world.fail(name(), "peer " + std::to_string(holder) + " lets peer " + std::to_string(to) +
                                      " drop partition " + std::to_string(partition) + ", and only " +
                                      std::to_string(disks) + " others have " + merge.record.url);
      }
    }
  }

  std::map<Exchange, std::vector<Sent>> batches_;
  std::map<Exchange, Question> questions_;
};

}  // namespace

std::unique_ptr<Checker> make_copies() { return std::make_unique<Copies>(); }

}  // namespace orbweaver::sim
