// A snapshot at a random moment of a run with faults, and a ring of another size that goes on from it in a new world:
// docs/decisions/0029-snapshot.md. What every disk had when all peers held is in the checkpoints; each URL among it
// gets an outcome; and no page whose outcome was in them is fetched again.
#include <nlohmann/json.hpp>

#include "node/crawl/meta_names.h"
#include "node/replication/copied_until.h"
#include "node/snapshot/restore.h"
#include "node/snapshot/snapshot_talk.h"
#include "ring/md5.h"
#include "tests/sim/scenario.h"

namespace orbweaver::sim {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using storage::UrlState;

// What stores know, by URL; and links that wait in outboxes.
struct Known {
  std::map<std::string, storage::UrlRecord> records;
  std::set<std::string> links;
  bool has(const std::string& url) const { return records.contains(url) || links.contains(url); }
};

void add_known(storage::Kv& kv, std::uint32_t partitions, Known& known) {
  auto store = storage::Store::open(kv);
  ASSERT_TRUE(store);
  for (const std::uint16_t partition : store->partitions()) {
    const auto records = store->scan(partition, nullptr, 1'000'000);
    ASSERT_TRUE(records);
    for (const storage::Merge& merge : *records) {
      const auto [at, added] = known.records.try_emplace(merge.record.url, merge.record);
      if (!added) at->second = storage::merge(at->second, merge.record);
    }
  }
  for (std::uint32_t partition = 0; partition < partitions; ++partition) {
    const auto links = store->outbox_of(static_cast<std::uint16_t>(partition), 0, 1'000'000);
    ASSERT_TRUE(links);
    for (const storage::OutboxEntry& link : *links) {
      const auto record = storage::decode_record(link.record);
      ASSERT_TRUE(record);
      known.links.insert(record->url);
    }
  }
}

bool has_outcome(const storage::UrlRecord& record) {
  return record.state == UrlState::fetched || record.state == UrlState::failed;
}

// Pages that must not be asked for.
class NotAgain final : public Checker {
 public:
  explicit NotAgain(std::set<std::string> urls) : urls_(std::move(urls)) {}
  std::string_view name() const override { return "not_again"; }
  void request_begun(World& world, const Request& request) override {
    if (request.kind == RequestKind::page && urls_.contains(request.url))
      world.fail(name(), request.url + " is asked for, and its outcome is in the snapshot");
  }

 private:
  std::set<std::string> urls_;
};

ring::PeerId id_of(const std::string& text) {
  ring::PeerId id;
  id.bytes = ring::md5(text);
  return id;
}

// Asks a living peer of the ring, and another one when it does not answer.
std::optional<json> ask(World& world, const json& question) {
  for (std::size_t i = 0; i < world.peers().size(); ++i) {
    const SimPeer& peer = world.peers()[i];
    if (peer.status != Status::up || peer.paused || !peer.core->has_ring()) continue;
    const std::size_t answers = world.answers().size();
    world.ask(i, "snapshot", question.dump());
    const Duration until = world.since_start() + seconds{5};
    while (world.answers().size() == answers && world.since_start() < until)
      if (!world.run(world.since_start() + milliseconds{50})) return std::nullopt;
    if (world.answers().size() > answers) return json::parse(world.answers()[answers]);
  }
  return std::nullopt;
}

// What the disks have: of the peers that are up, and of the others whose disk is left.
struct Disks {
  std::map<std::string, Known> by_peer;  // that are up, by identity
  Known all;
};

Disks look_at_disks(World& world) {
  Disks disks;
  for (SimPeer& peer : world.peers()) {
    if (peer.status == Status::absent || peer.status == Status::gone) continue;
    storage::MemoryKv copy(*peer.kv);
    copy.heal_reads();
    copy.heal();
    add_known(copy, world.parameters().settings.partitions, disks.all);
    if (peer.core != nullptr)
      add_known(copy, world.parameters().settings.partitions, disks.by_peer[peer.core->id().hex()]);
  }
  return disks;
}

enum class Done : std::uint8_t { whole, without_some, none };

// The last process was left alone, and not all of what it had then had copies again (copied_until.h). With its disk
// goes what it knew. Two peers left, two came, and it died before it had filled them (seed 1009).
bool was_left_alone(const SimPeer& peer) {
  if (peer.core != nullptr || peer.kv == nullptr) return false;
  storage::MemoryKv copy(*peer.kv);
  copy.heal_reads();
  copy.heal();
  auto store = storage::Store::open(copy);
  EXPECT_TRUE(store);
  const auto row = store->meta(meta_name::copied_until);
  EXPECT_TRUE(row);
  CopiedUntil copied;
  if (!row || !*row || !copied.restore(**row, Time::max())) return false;
  return copied.lacks({.state = storage::UrlState::fetched, .since = Time::max(), .url = "", .fetched_here = true});
}

struct Taken {
  Done done = Done::none;
  Manifest manifest;
  Disks before;             // when all peers held
  bool some_alone = false;  // a peer that is missing had the only copy of something
  std::string why;
};

Taken take_snapshot(World& world, const std::string& name) {
  SnapshotTalk talk(name, false);
  Taken taken;
  bool held = false;
  for (int questions = 0; questions < 100; ++questions) {
    const auto answer = ask(world, talk.question());
    if (!answer || answer->contains("error")) {
      taken.why = answer ? answer->dump() : "no answer";
      return taken;
    }
    const Result<SnapshotTalk::Next> next = talk.take(*answer);
    if (!next) {
      taken.why = next.error().message;
      return taken;
    }
    if (!held) {
      taken.before = look_at_disks(world);
      taken.some_alone = std::any_of(world.peers().begin(), world.peers().end(), was_left_alone);
    }
    held = true;
    if (*next == SnapshotTalk::Next::done) break;
    if (*next == SnapshotTalk::Next::wait && !world.run(world.since_start() + milliseconds{200})) return taken;
  }
  ask(world, talk.question());
  taken.manifest = talk.manifest();
  taken.done = taken.manifest.missing.empty() ? Done::whole : Done::without_some;
  return taken;
}

// The checkpoints that the manifest names.
std::vector<std::shared_ptr<storage::MemoryKv>> checkpoints(World& world, const Manifest& manifest) {
  std::vector<std::shared_ptr<storage::MemoryKv>> found;
  for (const SnapshotPeer& peer : manifest.peers)
    for (const SimPeer& one : world.peers()) {
      const std::string place = "/peer-" + std::to_string(one.number) + "/";
      if (!peer.listing.path.starts_with(place)) continue;
      const auto kv = one.checkpoints.find(manifest.snapshot);
      if (kv != one.checkpoints.end()) found.push_back(kv->second);
    }
  return found;
}

// The cut is consistent: what a disk of the manifest had when all held is in some checkpoint.
void check_cut(const Taken& taken, const Known& saved) {
  for (const SnapshotPeer& peer : taken.manifest.peers) {
    const auto before = taken.before.by_peer.find(peer.id);
    if (before == taken.before.by_peer.end()) continue;  // it was started again meanwhile
    for (const auto& [url, record] : before->second.records) {
      const auto found = saved.records.find(url);
      ASSERT_NE(found, saved.records.end()) << url << " of peer " << peer.id;
      EXPECT_EQ(storage::merge(found->second, record), found->second) << url << " of peer " << peer.id;
    }
    for (const std::string& url : before->second.links) EXPECT_TRUE(saved.has(url)) << url << ", a link of " << peer.id;
  }
}

FaultKinds kinds() {
  FaultKinds kinds;
  kinds.recrawls = false;    // a page is to be fetched again
  kinds.questions = false;   // their answers would be taken for a snapshot's
  kinds.late_seeds = false;  // likewise
  kinds.orders = false;      // likewise; and nobody takes back what a restored ring knows
  kinds.killers = false;     // crashes of the first world justify records of the second
  kinds.archives = false;    // the second world has not the archives of the first
  return kinds;
}

bool limited(const Settings& settings) {
  return settings.max_pages > 0 || settings.max_bytes > 0 || settings.max_pages_per_host > 0 ||
         settings.max_bytes_per_host > 0 || settings.max_pages_per_domain > 0 || settings.max_bytes_per_domain > 0;
}

// A calm world of another size and with other partitions, on whose disks the snapshot is.
void run_restored(World& before, const Taken& taken, const Known& saved, std::size_t peers, std::uint32_t partitions) {
  Parameters p = before.parameters();
  p.peers = peers;
  p.settings.partitions = partitions;
  p.faults.clear();
  p.skews.clear();
  p.network = p.healed;
  p.faults_end = {};
  p.settings.join.clear();
  p.max_answer_lag = {};  // all copies are filled at once, a batch at a time
  World world(p, false);
  std::vector<Restore::Target> targets;
  for (SimPeer& peer : world.peers()) {
    peer.seeds.clear();
    targets.push_back({peer.kv.get(), id_of("restored " + std::to_string(peer.number)), peer.address});
  }
  auto restore = Restore::begin(targets, id_of("restored ring"), taken.manifest.settings, partitions);
  ASSERT_TRUE(restore) << restore.error().message;
  for (const auto& checkpoint : checkpoints(before, taken.manifest)) {
    storage::MemoryKv copy(*checkpoint);
    copy.heal();
    copy.heal_reads();
    auto store = storage::Store::open(copy);
    ASSERT_TRUE(store);
    const Result<void> added = restore->add(*store);
    ASSERT_TRUE(added) << added.error().message;
  }
  const auto counts = restore->finish();
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->records, saved.records.size());
  std::set<std::string> ended;
  for (const auto& [url, record] : saved.records)
    if (has_outcome(record)) ended.insert(url);
  world.add_checker(std::make_unique<NotAgain>(ended));
  world.continue_web(before);
  EXPECT_TRUE(world.run_to_end()) << report(world);
  Known after;
  for (SimPeer& peer : world.peers()) add_known(*peer.kv, p.settings.partitions, after);
  if (limited(p.settings)) return;
  // Also of disks that have no part in the snapshot: what they had alone is found again.
  for (const Known* known : {&taken.before.all, &saved}) {
    for (const auto& [url, record] : known->records) {
      const auto found = after.records.find(url);
      ASSERT_NE(found, after.records.end()) << url << " is lost";
      EXPECT_NE(found->second.state, UrlState::queued) << url << " has no outcome";
    }
    for (const std::string& url : known->links) EXPECT_TRUE(after.records.contains(url)) << url << " is lost, a link";
  }
}

class SnapshotSeeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Sim, SnapshotSeeds, testing::Range<std::uint64_t>(1, 9));

// Each of these parameters stands for so many seeds; of some the crawl is over before the snapshot, or a peer is down.
constexpr std::uint64_t seeds_each = 25;

TEST_P(SnapshotSeeds, ARingOfAnotherSizeGoesOnFromASnapshotUnderFaults) {
  std::map<Done, std::uint64_t> done;
  for (std::uint64_t i = 0; i < seeds_each; ++i) {
    const std::uint64_t seed = GetParam() * 1000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Parameters p = Parameters::draw(seed, kinds());
    // With slower answers the ring itself recovers more slowly than its checker allows, snapshot or not (seed 3001).
    p.max_answer_lag = std::min<Duration>(p.max_answer_lag, milliseconds{100});
    // The second world's checker of ends does not know the bytes of the first.
    p.settings.max_bytes = 0;
    World world(p, false);
    ASSERT_TRUE(world.run(random.between(seconds{1}, seconds{15}))) << report(world);
    if (world.ending()) continue;
    const Taken taken = take_snapshot(world, id_of("snapshot " + std::to_string(seed)).hex());
    ASSERT_TRUE(world.failures().empty()) << report(world);
    ++done[taken.done];
    if (taken.done == Done::none) continue;
    Known saved;
    const auto copies = checkpoints(world, taken.manifest);
    ASSERT_EQ(copies.size(), taken.manifest.peers.size());
    for (const auto& kv : copies) {
      storage::MemoryKv copy(*kv);
      copy.heal();
      copy.heal_reads();
      add_known(copy, p.settings.partitions, saved);
    }
    if (saved.records.empty()) continue;  // before the seeds: the restored ring would wait for them
    check_cut(taken, saved);
    if (taken.some_alone) continue;
    const std::size_t peers = 1 + random.below(6);
    const std::uint32_t partitions = random.chance(500) ? p.settings.partitions : random.pick({1U, 16U, 256U});
    run_restored(world, taken, saved, peers, partitions);
    if (testing::Test::HasFailure()) return;
    // The ring itself goes on as if nothing had been.
    EXPECT_TRUE(world.run_to_end()) << report(world);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(done[Done::whole], 0u);
  std::printf(
      "snapshots: %llu whole, %llu without some peers, %llu none\n", static_cast<unsigned long long>(done[Done::whole]),
      static_cast<unsigned long long>(done[Done::without_some]), static_cast<unsigned long long>(done[Done::none]));
}

}  // namespace

}  // namespace orbweaver::sim
