// Links first (decisions 10 and 26): a page counts as fetched elsewhere only after its links are on two disks. Whenever
// a peer sends another one the record of a page that was fetched, some other peer's store has a record of each of the
// page's links. After a disk was lost it pauses until the copies are made again. Filters that take links as seen end
// the check.
#include <algorithm>

#include "node/crawl/partitioner.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

constexpr std::size_t all_entries = 1'000'000;

class LinksFirst final : public Checker {
 public:
  std::string_view name() const override { return "links_first"; }

  void message_sent(World& world, std::size_t from, std::size_t, const ring::Message& message) override {
    const auto* const batch = std::get_if<ring::Batch>(&message.body);
    const Settings& settings = world.parameters().settings;
    if (batch == nullptr || batch->kind == ring::BatchKind::forward || settings.replicas < 2) return;
    if (settings.seen == SeenSet::bloom || world.copies_may_lack()) return;
    for (const ring::BatchRecord& entry : batch->records) {
      if (storage::wire_kind(entry.record) != storage::WireKind::record) continue;
      const auto record = storage::decode_record(entry.record);
      if (record && record->state == storage::UrlState::fetched) look_at(world, from, *batch, record->url);
    }
  }

 private:
  // Once for each page: what has its copies keeps them.
  void look_at(World& world, std::size_t from, const ring::Batch& batch, const std::string& page) {
    if (!looked_at_.insert(page).second) return;
    if (scope_.empty() && world.parameters().settings.scope == ScopeKind::host)
      for (const std::string& seed : world.seeds()) scope_.insert(std::string(host_in(seed)));
    Partitioner partitioner(world.parameters().settings.partition_by, world.parameters().settings.partitions);
    for (const std::string& link : last_answer(world.web(), page).links) {
      if (link == page) continue;  // the record that is sent is this link's
      if (!scope_.empty() && !scope_.contains(std::string(host_in(link)))) continue;
      const Result<CanonicalUrl> url = CanonicalUrl::parse(link);
      if (!url) continue;
      const storage::UrlKey key{partitioner.host_key(*url), url->digest()};
      // What the sender does not know itself was no link for it: too deep, or kept out by a rule.
      if (!known_to(world.peers()[from], key, url->text()) || known_elsewhere(world, from, key)) continue;
      return world.fail(name(), "peer " + std::to_string(from) + " sends the outcome of " + page +
                                    (batch.kind == ring::BatchKind::copy ? " as a copy" : " with its partition") +
                                    ", and no other has " + link);
    }
  }

  // In its records, or on the way to their owner.
  static bool known_to(SimPeer& peer, const storage::UrlKey& key, const std::string& url) {
    if (peer.store == nullptr) return false;
    if (const auto found = peer.store->find(key); found && *found) return true;
    const auto outbox = peer.store->outbox_of(key.host.partition, 0, all_entries);
    return outbox && std::any_of(outbox->begin(), outbox->end(), [&](const storage::OutboxEntry& entry) {
             const auto record = storage::decode_record(entry.record);
             return record && record->url == url;
           });
  }

  static bool known_elsewhere(World& world, std::size_t from, const storage::UrlKey& key) {
    for (SimPeer& peer : world.peers()) {
      if (peer.number == from || peer.kv == nullptr) continue;
      if (peer.store != nullptr) {
        if (const auto found = peer.store->find(key); found && *found) return true;
        continue;
      }
      auto store = storage::Store::open(*peer.kv);
      if (!store) continue;
      if (const auto found = store->find(key); found && *found) return true;
    }
    return false;
  }

  std::set<std::string> looked_at_;
  std::set<std::string> scope_;
};

}  // namespace

std::unique_ptr<Checker> make_links_first() { return std::make_unique<LinksFirst>(); }

}  // namespace orbweaver::sim
