// All parts of a peer that fetches, connected as Peer does it (node/peer/peer.cc), on a store in memory. The peer is
// number 1; it has made its ring, number 200, and is alone in it. FetchRig is the fixture. It plays the loop (the
// clock, the resolver, the fetcher and the workers) by hand.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/coordination/doorkeeper.h"
#include "node/coordination/end_parts.h"
#include "node/crawl/meta_names.h"
#include "node/crawl/robots_reader.h"
#include "node/links/batch_intake.h"
#include "node/peer/own_answers.h"
#include "node/scheduling/fetch_parts.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {

struct RigParts {
  struct Start {
    Settings settings;
    MemoryPlan memory = plan_memory({}, std::uint64_t{2} << 30);
    std::vector<std::string> seeds{};
    std::size_t wait_for_peers = 1;
    std::uint64_t messages_refused = 0;
  };
  RigParts(storage::Store& store, Start start)
      : state(std::move(start.settings), start.memory, store, rig_id(1), rig_id(200)),
        members(state, ring::Membership(PeerRig::self(), {}, 1)),
        records(state, members),
        messenger(state, members, records.replication.partition_manager.tenures()),
        ends(state, members, lifecycle, messenger, records.writer),
        fence(state, members, messenger, records.replication, ends.process),
        moves(state, members, messenger, records.replication, records.bench, records.writer),
        directives(state, members, messenger, records.writer, ends.crawl),
        doorkeeper(state, members, messenger, lifecycle, directives, ends.crawl,
                   records.replication.partition_manager.tenures()),
        verdicts(state, members, messenger, seeds, records.writer),
        links(state, members, seeds, records.bench, verdicts),
        intake({.state = state,
                .members = members,
                .lifecycle = lifecycle,
                .writer = records.writer,
                .seeds = seeds,
                .router = links.router,
                .links = links.follower},
               std::move(start.seeds), start.wait_for_peers),
        fetches({.state = state,
                 .members = members,
                 .messenger = messenger,
                 .lifecycle = lifecycle,
                 .fence = fence,
                 .records = records,
                 .directives = directives,
                 .links = links,
                 .intake = intake,
                 .made_ring = true}),
        batches({.state = state,
                 .members = members,
                 .messenger = messenger,
                 .replication = records.replication,
                 .bench = records.bench,
                 .writer = records.writer,
                 .moves = moves,
                 .directives = directives,
                 .router = links.router,
                 .walk = verdicts.walk,
                 .traps = verdicts.traps}),
        faults(members, start.messages_refused),
        status({.state = state,
                .members = members,
                .records = records,
                .fence = fence,
                .directives = directives,
                .doorkeeper = doorkeeper,
                .links = links,
                .fetches = fetches,
                .batches = batches,
                .faults = faults},
               {}),
        snapshots(state, members, records.replication.partition_manager),
        answers({.state = state,
                 .members = members,
                 .lifecycle = lifecycle,
                 .records = records,
                 .ends = ends,
                 .directives = directives,
                 .verdicts = verdicts,
                 .links = links,
                 .intake = intake,
                 .gate = fetches.gate,
                 .status = status,
                 .snapshots = snapshots,
                 .events = events,
                 .history = history}) {
    state.sites.obey(directives.orders().hosts());
    directives.on_visit([this](const OperatorOrder& visit, storage::Commit& commit) {
      if (Result<RecrawlWalk::Wanted> wanted = RecrawlWalk::read_order(visit))
        verdicts.walk.begin(std::move(*wanted), commit);
    });
  }

  PeerState state;
  Members members;
  RecordParts records;
  Messenger messenger;
  Lifecycle lifecycle;
  EndParts ends;
  Fence fence;
  PartitionMoves moves;
  Directives directives;
  SeedSet& seeds = directives.seeds();
  Doorkeeper doorkeeper;
  UrlVerdicts verdicts;
  LinkParts links;
  SeedIntake intake;
  FetchParts fetches;
  BatchIntake batches;
  OutsideFaults faults;
  PeerStatus status;
  SnapshotDesk snapshots;
  EventLog events;
  History history;
  OwnAnswers answers;
};

class FetchRig : public testing::Test, public CommandLog {
 protected:
  FetchRig() {
    start_.settings = rig_settings();
    start_.settings.robots = false;
    start_.settings.scope = ScopeKind::any;
  }
  Settings& settings() { return start_.settings; }  // for the next start

  // Starts a process on the directory with `start_`; the previous one has ended. Like Peer::restore() and one step.
  void start() {
    const bool again = parts_ != nullptr;
    parts_.reset();
    out.clear();
    store_.emplace(*storage::Store::open(kv_));
    parts_ = std::make_unique<RigParts>(*store_, start_);
    RigParts& p = *parts_;
    p.state.started = p.state.stepped = now_;
    if (again) p.state.restarted = now_;
    storage::Commit commit;
    PartitionManager& partition_manager = p.records.replication.partition_manager;
    if (again) {
      ASSERT_TRUE(partition_manager.restore(now_));
    } else {
      partition_manager.learn(partition_manager.make_ring(), commit);
    }
    p.seeds.restore(meta(meta_name::seeds));
    p.intake.restore(meta(meta_name::waited));
    p.seeds.make_scope();
    ASSERT_TRUE(p.fetches.crashes.restore(*store_, at_work_, commit));
    ASSERT_TRUE(store_->commit(commit));
    p.members.membership().set_state(ring::MemberState::active, now_);
    accept_members();
    ASSERT_TRUE(p.fence.tick(step()));
    // Alone, it has nobody to ask for what it may lack.
    partition_manager.plan_all();
    (void)partition_manager.plan(p.members.view(), p.members.membership(), now_, true);
    p.records.bench.fetchability_changed(partition_manager.take_fetchability_changes());
  }
  // The same on a new directory.
  void start_fresh() {
    parts_.reset();
    store_.reset();
    kv_.wipe();
    start();
  }
  void accept_members() {
    if (!parts_->members.accept_changes(now_)) return;
    parts_->links.router.forget();
    parts_->seeds.owners_changed();
    parts_->fetches.access.owners_changed(now_);
    parts_->records.bench.fetchability_changed(
        parts_->records.replication.partition_manager.take_fetchability_changes());
  }
  // Adds a member of its ring, active unless `as` says otherwise.
  void add_member(std::uint8_t number, ring::MemberState as = ring::MemberState::active) {
    ring::Member member = PeerRig::self();
    member.id = rig_id(number);
    member.address = "10.0.0." + std::to_string(number) + ":7400";
    member.started = member.incarnation;
    member.state = as;
    parts_->members.membership().welcome({member}, now_);
    accept_members();
  }
  // Makes `holder`, another peer or this one, hold the URL's partition from now on.
  void give_partition(const std::string& url, std::uint8_t holder) {
    PartitionManager& partition_manager = parts_->records.replication.partition_manager;
    const ring::Partition partition = key(url).host.partition;
    storage::Commit commit;
    partition_manager.learn({{partition, {partition_manager.tenures().of(partition).epoch + 1, rig_id(holder)}}},
                            commit);
    ASSERT_TRUE(store_->commit(commit));
    parts_->records.bench.fetchability_changed(partition_manager.take_fetchability_changes());
  }

  Step step() {
    parts_->state.note_step(now_);
    return {now_, out};
  }
  static CanonicalUrl url(const std::string& text) { return *CanonicalUrl::parse(text); }
  static std::vector<CanonicalUrl> urls(const std::vector<std::string>& texts) {
    std::vector<CanonicalUrl> urls;
    for (const std::string& text : texts) urls.push_back(url(text));
    return urls;
  }
  storage::UrlKey key(const std::string& text) const {
    const CanonicalUrl canonical = url(text);
    return {parts_->state.partitioner.host_key(canonical), canonical.digest()};
  }
  std::string meta(std::string_view name) { return store_->meta(name)->value_or(""); }

  // Puts a record into the store, as a link or another peer would; queued unless `record` says otherwise.
  void put(const std::string& text, storage::UrlRecord record = {}) {
    record.url = text;
    storage::Commit commit;
    commit.merges.push_back({key(text), std::move(record)});
    ASSERT_TRUE(parts_->records.writer.commit(step(), commit));
  }
  storage::UrlRecord record(const std::string& text) {
    const auto found = store_->find(key(text));
    EXPECT_TRUE(found && *found) << text;
    return found && *found ? **found : storage::UrlRecord{};
  }
  void expect(const std::string& text, storage::UrlState state, storage::Reason reason, int status = 0) {
    const storage::UrlRecord known = record(text);
    EXPECT_EQ(storage::state_name(known.state), storage::state_name(state)) << text;
    EXPECT_EQ(storage::reason_name(known.reason), storage::reason_name(reason)) << text;
    EXPECT_EQ(known.status, status) << text;
  }
  BenchHost& host(const std::string& text) { return *parts_->records.bench.find(key(text).host); }

  // One round of the scheduler; address lookups stay unanswered.
  void tick_once() { ASSERT_TRUE(parts_->fetches.scheduler.tick(step())); }
  // Rounds until nothing more begins; the resolver answers at once.
  void tick() {
    do {
      tick_once();
      parts_->fetches.access.tick(step());
    } while (resolve() > 0);
    if (!parts_->fetches.access.leases().idle()) tick_once();  // one may have been given
  }
  // Answers all waiting lookups. Returns the number of hosts.
  std::size_t resolve() {
    std::vector<ResolveHost> asked;
    for (const Command& command : out)
      if (const auto* resolve = std::get_if<ResolveHost>(&command)) asked.push_back(*resolve);
    std::erase_if(out, [](const Command& command) { return std::holds_alternative<ResolveHost>(command); });
    for (const ResolveHost& question : asked) {
      HostResolved answer{question.host, address_of(question.name)};
      parts_->fetches.scheduler.on_resolved(now_, answer);
    }
    return asked.size();
  }
  // Each host has an address in its own network, unless `addresses_` says otherwise.
  std::string address_of(const std::string& name) {
    const auto known = addresses_.find(name);
    if (known != addresses_.end()) return known->second;
    const std::size_t number = addresses_.size() + 1;
    const std::string address{10, static_cast<char>(number >> 8), static_cast<char>(number), 1};
    return addresses_.emplace(name, address).first->second;
  }
  void advance(Duration by) { now_ += by; }

  // The commands of one kind since the last call of clear().
  template <class Kind>
  std::vector<Kind> said() const {
    std::vector<Kind> found;
    for (const Command& command : out)
      if (const auto* one = std::get_if<Kind>(&command)) found.push_back(*one);
    return found;
  }
  // The URLs of all fetches since the last clear(), in order.
  std::vector<std::string> asked() const {
    std::vector<std::string> found;
    for (const StartFetch& start : said<StartFetch>()) found.push_back(start.job.url.text());
    return found;
  }
  // The one fetch that begins now.
  FetchJob begin() {
    clear();
    tick();
    const std::vector<StartFetch> begun = said<StartFetch>();
    EXPECT_EQ(begun.size(), 1u);
    return begun.empty() ? FetchJob{.url = url("http://none.test/"), .host = {}, .what = PageFetch{}}
                         : begun.front().job;
  }

  // The exchange ends as `event` says.
  Result<void> end(const FetchJob& job, FetchEnded event) {
    event.id = job.id;
    event.ended = now_;
    return parts_->fetches.outcomes.on_fetch_ended(step(), event);
  }
  Result<void> fail_with(const FetchJob& job, FetchError error) {
    FetchEnded event;
    event.error = error;
    return end(job, std::move(event));
  }
  // A worker has read the response.
  Result<void> read(const FetchJob& job, PageDone done) {
    done.id = job.id;
    return parts_->fetches.outcomes.on_page_done(step(), done);
  }
  template <class Read>
  static PageDone done(Read read) {
    PageDone done;
    done.what = std::move(read);
    return done;
  }
  Result<void> answer(const FetchJob& job, int status, PageDone done) {
    FetchEnded event;
    event.status = status;
    event.bytes = 100;
    if (Result<void> ended = end(job, std::move(event)); !ended) return ended;
    return read(job, std::move(done));
  }
  Result<void> answer(const FetchJob& job, int status, PageRead page) {
    return answer(job, status, done(std::move(page)));
  }
  Result<void> answer(const FetchJob& job, int status, RobotsRead robots) {
    return answer(job, status, done(std::move(robots)));
  }
  // An answer without content.
  Result<void> answer(const FetchJob& job, int status) {
    return answer(job, status, job.page() != nullptr ? done(PageRead{}) : done(RobotsRead{}));
  }
  // A robots.txt answer with this body.
  RobotsRead robots_page(const std::string& body) const {
    RobotsRead read;
    read.body = body;
    read.parsed = parse_robots(body, parts_->state.settings.user_agent);
    return read;
  }

  RigParts::Start start_;
  std::vector<storage::UrlKey> at_work_;  // from the time when the previous process died
  std::map<std::string, std::string> addresses_;
  Time now_ = Time(std::chrono::hours{480'000});  // 00:00 UTC
  storage::MemoryKv kv_;
  std::optional<storage::Store> store_;
  std::unique_ptr<RigParts> parts_;
};

}  // namespace orbweaver
