// A ring of PartitionManagers with their stores, for the tests of holders: a wire between them, and memberships made by
// hand. A holder's writes reach its copies at once if those are up, else as soon as they are. Time advances in steps of
// 10 ms.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "node/replication/partition_manager.h"
#include "storage/memory_kv.h"
#include "tests/unit/partition_wire.h"

namespace orbweaver::test {

struct ManagedNode {
  explicit ManagedNode(std::size_t n) : number(n), id(peer_id(n)) {}
  std::size_t number;
  ring::PeerId id;
  storage::MemoryKv kv;
  std::optional<storage::Store> store;
  CopiedUntil copied_until;
  std::optional<PartitionManager> partition_manager;
  std::optional<View> view;
  std::optional<ring::Membership> membership;
  bool alive = false;
  bool confirmed = true;  // it has learned the other peers' tenures
  bool plan_due = true;
  std::optional<Time> view_due;
  std::map<ring::Partition, Time> busy;                            // fetches in progress: when they end
  std::set<ring::Partition> changed;                               // reported so far
  std::vector<storage::Merge> to_copy;                             // records that its copies lack
  std::vector<std::pair<ring::PeerId, std::uint64_t>> unanswered;  // batches to acknowledge after that
};

class PartitionManagerTest : public testing::Test {
 protected:
  static constexpr Duration step_time = std::chrono::milliseconds(10);

  PartitionManagerTest() {
    config_.transfers.batch.max_records = 16;
    config_.transfers.max_active = 4;
    config_.transfers.batch.timeout = std::chrono::seconds(1);
    config_.transfers.leaves_from = 40;
    config_.compare_every = std::chrono::seconds(2);
    config_.compare_partitions = 8;
    config_.plan_slice = 5;
  }

  // --- members ---
  ManagedNode& node(std::size_t number) { return *nodes_.at(number); }
  // The first node makes the ring; a later one with an empty store joins; one with its old store comes back.
  void begin(std::size_t number) {
    std::unique_ptr<ManagedNode>& slot = nodes_[number];
    const bool first = nodes_.size() == 1 && slot == nullptr;
    if (slot == nullptr) slot = std::make_unique<ManagedNode>(number);
    ManagedNode& n = *slot;
    n.store.emplace(*storage::Store::open(n.kv));
    n.partition_manager.emplace(config_, n.id, few_partitions, *n.store, n.copied_until);
    if (first) {
      storage::Commit commit;
      n.partition_manager->learn(n.partition_manager->make_ring(), commit);
      ASSERT_TRUE(n.store->commit(commit));
    }
    ASSERT_TRUE(n.partition_manager->restore(now_));
    if (!n.view) n.view.emplace(n.id, few_partitions, replicas_);  // else its last view of the members
    n.alive = true;
    n.confirmed = first;
    n.busy.clear();
    n.to_copy.clear();
    n.unanswered.clear();
    states_[number] = ring::MemberState::active;
    publish();
  }
  void leave(std::size_t number) {
    states_[number] = ring::MemberState::leaving;
    publish();
  }
  // kill -9. The others learn of it only from publish().
  void kill(std::size_t number) {
    node(number).alive = false;
    wire_.cut(node(number).id);
    written_twice_.clear();
  }
  void bury(std::size_t number) {
    states_[number] = ring::MemberState::down;
    publish();
  }
  // All nodes see the members as they are; each after its own delay when `late_` is set.
  void publish() {
    for (auto& [number, n] : nodes_)
      n->view_due =
          now_ + (late_.count() == 0
                      ? Duration{}
                      : Duration(static_cast<std::int64_t>(below(random_, static_cast<std::size_t>(late_.count())))));
  }
  void see(ManagedNode& n) {
    ring::Member own = active_member(n.number);
    own.state = states_.at(n.number);
    if (!ring::reachable(own)) own.state = ring::MemberState::active;  // it does not know that others think it down
    std::vector<ring::Member> others;
    for (const auto& [number, state] : states_) {
      if (number == n.number || hidden_.contains(number)) continue;
      others.push_back(active_member(number));
      others.back().state = state;
    }
    std::map<ring::PeerId, bool> before;
    if (n.membership)
      for (const auto& [peer, member] : n.membership->members()) before[peer] = ring::reachable(member);
    n.membership.emplace(own, ring::MembershipConfig{}, 1);
    n.membership->restore(others, now_);
    std::set<ring::PeerId> come_or_gone;
    for (const auto& [peer, member] : n.membership->members())
      if (const auto known = before.extract(peer); known.empty() || known.mapped() != ring::reachable(member))
        come_or_gone.insert(peer);
    for (const auto& [peer, reachable] : before) come_or_gone.insert(peer);
    n.partition_manager->members_changed(come_or_gone);
    if (n.view->update(*n.membership)) n.partition_manager->owners_changed(n.view->changed());
    n.view_due.reset();
  }

  // --- one step of all nodes ---
  void step() {
    now_ += step_time;
    for (const Packet& packet : wire_.take(now_)) deliver(packet);
    for (auto& [number, n] : nodes_) {
      if (!n->alive) continue;
      if (n->view_due && now_ >= *n->view_due) see(*n);
      end_fetches(*n);
      (void)copy(*n);
      work(*n);
      if (HasFatalFailure()) return;
      if (crawling_) begin_a_fetch(*n);
    }
    if (now_.time_since_epoch().count() / 10'000 % 20 == 0) compare_tenures();
    check_fetchers();
  }
  void run(Duration time) {
    for (const Time end = now_ + time; now_ < end && !HasFatalFailure();) step();
  }
  bool at_rest() const {
    return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& entry) {
      const ManagedNode& n = *entry.second;
      return !n.alive || (!n.view_due && n.confirmed && n.partition_manager->at_rest() &&
                          !n.partition_manager->plan_open() && n.partition_manager->to_backfill() == 0);
    });
  }
  void settle(int max_steps = 6'000) {
    crawling_ = false;
    for (int i = 0; i < 50; ++i) step();  // fetches end in these steps
    for (int i = 0; !at_rest() && !HasFatalFailure(); ++i) {
      ASSERT_LT(i, max_steps) << "does not settle: " << what_is_left();
      step();
    }
  }
  static std::string awaited_by(const ManagedNode& n) {
    std::string text;
    for (const auto& [peer, partitions] : n.partition_manager->awaited())
      for (const ring::Partition partition : partitions)
        text += peer.brief() + " for " + std::to_string(partition) + " ";
    return text;
  }
  std::string what_is_left() const {
    std::string text;
    for (const auto& [number, n] : nodes_)
      if (n->alive)
        text += "[" + std::to_string(number) + ": holds " + std::to_string(n->partition_manager->held()) +
                ", to gain " + std::to_string(n->partition_manager->to_gain()) + ", to hand over " +
                std::to_string(n->partition_manager->to_hand_over()) + ", to give back " +
                std::to_string(n->partition_manager->to_return()) + ", to fill " +
                std::to_string(n->partition_manager->to_backfill()) + ", awaited: " + awaited_by(*n) + "] ";
    return text;
  }

  void work(ManagedNode& n) {
    if (!n.membership) return;  // it has not seen the ring yet
    if (n.partition_manager->take_plan_wanted()) n.plan_due = true;
    if (std::exchange(n.plan_due, false)) n.partition_manager->plan_all();
    if (n.partition_manager->plan_wanted(now_)) {
      const PartitionManager::Changes taken = n.partition_manager->plan(*n.view, *n.membership, now_, n.confirmed);
      decide(n, taken);
      if (!taken.empty()) n.partition_manager->took_over(taken, *n.view, *n.membership, now_);
    }
    const Transfers::World world{n.partition_manager->tenures(),
                                 [&n](ring::Partition p, ring::TransferKind kind) {
                                   return kind == ring::TransferKind::backfill ||
                                          (!n.busy.contains(p) && n.to_copy.empty());
                                 },
                                 [&n](const storage::Merge& page) {
                                   const bool fetched = page.record.state == storage::UrlState::fetched;
                                   return fetched && n.copied_until.lacks(page.record) ? Transfers::Outcome::next_fill
                                                                                       : Transfers::Outcome::leaves;
                                 },
                                 [this] { return next_sequence_++; },
                                 [&n](ring::Partition p) { return n.partition_manager->held_since(p); },
                                 n.view->ring().fingerprint()};
    std::vector<Transfers::Out> out;
    PartitionManager::Changes changes;
    ASSERT_TRUE(n.partition_manager->tick(now_, *n.view, world, out, changes));
    for (const Transfers::Out& next : out)
      if (!lost_ || !lost_(n.number, next)) send(n, next.to, next.body);
    decide(n, changes);
    for (const ring::Partition partition : n.partition_manager->take_fetchability_changes())
      n.changed.insert(partition);
  }
  void decide(ManagedNode& n, const PartitionManager::Changes& changes) {
    if (changes.empty()) return;
    learn(n, changes);
    changes_.insert(changes_.end(), changes.begin(), changes.end());
    for (const auto& [number, other] : nodes_)
      if (other.get() != &n) send(n, other->id, sync_of(changes));
  }
  static ring::Sync sync_of(const std::vector<ring::PartitionTenure>& tenures) {
    ring::Sync sync;
    sync.tenures = tenures;
    return sync;
  }
  void learn(ManagedNode& n, const std::vector<ring::PartitionTenure>& tenures) {
    storage::Commit commit;
    if (!n.partition_manager->learn(tenures, commit)) return;
    ASSERT_TRUE(n.store->commit(commit));
  }
  void hear(ManagedNode& n, const std::vector<ring::PartitionTenure>& tenures) {
    storage::Commit commit;
    if (!n.partition_manager->hear(tenures, commit, true)) return;
    ASSERT_TRUE(n.store->commit(commit));
  }
  // As pings do: a node that finds other tenures at another node sends its own.
  void compare_tenures() {
    for (auto& [number, n] : nodes_)
      for (auto& [other_number, other] : nodes_) {
        if (n == other || !n->alive || !other->alive) continue;
        const bool same =
            n->partition_manager->tenures().fingerprint() == other->partition_manager->tenures().fingerprint();
        if (!n->confirmed || (other->confirmed && same)) continue;
        // As in an answer to a peer that asks what it may have missed.
        ring::TenuresCompared all;
        all.tenures = n->partition_manager->tenures().all();
        send(*n, other->id, all);
      }
  }

  static bool accepts(const ManagedNode& n, ring::Partition partition) {
    return n.view->keeps(partition) || n.partition_manager->holds(partition);
  }
  void send(const ManagedNode& n, const ring::PeerId& to, const ring::Body& body) {
    for (const auto& [number, other] : nodes_)
      if (other->id == to && cut_ && cut_(n.number, number)) return;
    wire_.send(now_, n.id, to, body);
  }
  void deliver(const Packet& packet) {
    for (auto& [number, n] : nodes_)
      if (n->id == packet.to && n->alive && n->view && n->membership) return handle(*n, packet);
  }
  void handle(ManagedNode& n, const Packet& packet) {
    const auto answer = [&](const ring::Body& body) { send(n, packet.from, body); };
    if (const auto* sync = std::get_if<ring::Sync>(&packet.body)) {
      hear(n, sync->tenures);
    } else if (const auto* all = std::get_if<ring::TenuresCompared>(&packet.body)) {
      hear(n, all->tenures);
      if (!n.confirmed) n.confirmed = n.plan_due = true;
    } else if (const auto* ask = std::get_if<ring::AskRecords>(&packet.body)) {
      hear(n, ask->tenures);
      answer(n.partition_manager->on_ask(packet.from, *ask, *n.view));
    } else if (const auto* known = std::get_if<ring::RecordsKnown>(&packet.body)) {
      n.partition_manager->on_known(packet.from, *known, now_);
    } else if (const auto* roots = std::get_if<ring::Roots>(&packet.body)) {
      hear(n, roots->tenures);
      answer(n.partition_manager->on_roots(packet.from, *roots, *n.view));
    } else if (const auto* compared = std::get_if<ring::RootsCompared>(&packet.body)) {
      n.partition_manager->on_compared(packet.from, *compared, now_);
      hear(n, compared->tenures);
    } else if (const auto* leaves = std::get_if<ring::Leaves>(&packet.body)) {
      const auto differ = n.partition_manager->on_leaves(*leaves, *n.view);
      ASSERT_TRUE(differ);
      if (*differ) answer(**differ);
    } else if (const auto* leaves_differ = std::get_if<ring::LeavesDiffer>(&packet.body)) {
      n.partition_manager->on_leaves_differ(packet.from, *leaves_differ);
    } else if (const auto* ack = std::get_if<ring::BatchAck>(&packet.body)) {
      (void)n.partition_manager->acknowledged(packet.from, ack->sequence);
    } else if (const auto* refused = std::get_if<ring::BatchRefused>(&packet.body)) {
      (void)n.partition_manager->refused(packet.from, refused->sequence, now_);
      hear(n, refused->tenures);
    } else if (const auto* batch = std::get_if<ring::Batch>(&packet.body)) {
      hear(n, batch->tenures);
      auto newer = n.partition_manager->newer(batch->tenures, packet.from);
      const bool takes = std::all_of(batch->records.begin(), batch->records.end(),
                                     [&](const ring::BatchRecord& r) { return accepts(n, r.partition); });
      if (!newer.empty() || !takes) return answer(ring::BatchRefused{batch->sequence, {}, std::move(newer)});
      n.unanswered.emplace_back(packet.from, batch->sequence);
      for (const ring::BatchRecord& record : batch->records)
        if (storage::wire_kind(record.record) == storage::WireKind::last_access_unknown)
          n.partition_manager->last_access_unknown(record.partition,
                                                   *storage::decode_last_access_unknown(record.record, now_));
      n.partition_manager->completed(packet.from, *batch);
      (void)apply(n, commit_of_batch(*n.store, *batch, now_));
    }
  }

  // --- the crawl ---
  bool fetches(const ManagedNode& n, ring::Partition partition) const {
    return n.alive && n.confirmed && n.partition_manager->fetches(partition);
  }
  void begin_a_fetch(ManagedNode& n) {
    const auto partition = static_cast<ring::Partition>(below(random_, few_partitions));
    if (!fetches(n, partition) || n.busy.contains(partition)) return;
    n.busy[partition] = now_ + std::chrono::milliseconds(below(random_, 80));
  }
  void end_fetches(ManagedNode& n) {
    for (auto at = n.busy.begin(); at != n.busy.end();) {
      if (at->second > now_) {
        ++at;
        continue;
      }
      write(n, at->first, below(random_, 400));
      at = n.busy.erase(at);
    }
  }
  // Changes in partitions that a peer owns or holds wait until its copies have them. True: they have.
  bool apply(ManagedNode& n, const storage::Commit& commit) {
    const auto done = n.store->commit(commit);
    EXPECT_TRUE(done);
    for (const storage::Merge& merge : done->changed)
      if (n.view->owns(merge.key.host.partition) || n.partition_manager->holds(merge.key.host.partition))
        n.to_copy.push_back(merge);
    return copy(n);
  }
  bool copy(ManagedNode& n) {
    std::vector<storage::Merge> left;
    for (const storage::Merge& merge : std::exchange(n.to_copy, {})) {
      bool whole = true;
      for (const ring::PeerId& peer : n.view->copies(merge.key.host.partition))
        for (auto& [number, other] : nodes_) {
          if (other->id != peer) continue;
          const bool reached =
              other->alive && !(cut_ && cut_(n.number, number)) && accepts(*other, merge.key.host.partition);
          if (reached) (void)apply(*other, commit_of({.merges = {merge}}));
          whole = whole && reached;
        }
      if (!whole) left.push_back(merge);
    }
    n.to_copy.insert(n.to_copy.end(), left.begin(), left.end());
    if (!n.to_copy.empty()) return false;
    for (const auto& [to, sequence] : std::exchange(n.unanswered, {})) send(n, to, ring::BatchAck{sequence});
    return true;
  }
  // A page is fetched, and it links to another.
  void write(ManagedNode& n, ring::Partition partition, std::size_t page) {
    const std::size_t host = hosts_in(partition, 1)[0];
    CommitParts parts;
    parts.merges = {queued_merge(host, page, 1), queued_merge(host, page + 1, 1)};
    parts.merges[0].record.state = storage::UrlState::fetched;
    parts.merges[0].record.since = now_;
    parts.clocks = {{host_key_of(host), {now_ + std::chrono::seconds(1), 0, host_text(host)}}};
    const bool whole = apply(n, commit_of(parts));
    if (!whole) return;  // not acknowledged: its owner may not rely on it
    for (const storage::Merge& merge : parts.merges) {
      const auto [at, added] = written_.try_emplace(merge.key, merge.record);
      if (!added) at->second = storage::merge(at->second, merge.record);
    }
  }
  void write_everywhere(ManagedNode& n, std::size_t pages) {
    for (std::uint32_t partition = 0; partition < few_partitions; ++partition)
      for (std::size_t page = 0; page < pages; ++page) write(n, static_cast<ring::Partition>(partition), 2 * page);
  }

  // --- invariants ---
  void check_fetchers() {
    if (views_differ_) return;
    for (std::uint32_t i = 0; i < few_partitions; ++i) {
      const auto partition = static_cast<ring::Partition>(i);
      std::vector<std::size_t> fetchers;
      for (const auto& [number, n] : nodes_)
        if (fetches(*n, partition) || (n->alive && n->busy.contains(partition))) fetchers.push_back(number);
      ASSERT_LE(fetchers.size(), 1u) << "peers " << fetchers[0] << " and " << fetchers[1] << " both fetch partition "
                                     << partition;
    }
  }
  std::size_t copies_of(const storage::UrlKey& key, const storage::UrlRecord& record) {
    std::size_t copies = 0;
    for (auto& [number, n] : nodes_) {
      if (!n->alive) continue;
      const auto found = n->store->find(key);
      EXPECT_TRUE(found);
      if (!*found) continue;
      storage::UrlRecord known = **found;
      known.url = record.url;  // a queued record is stored without it
      copies += storage::merge(known, record) == known ? 1 : 0;
    }
    return copies;
  }
  // Nothing that was written is lost. A record with two copies keeps two unless a peer dies. (A dead peer that is
  // believed alive still counts as a copy when another is dropped.)
  void check_copies() {
    const bool all_alive = std::all_of(states_.begin(), states_.end(), [&](const auto& entry) {
      return nodes_.at(entry.first)->alive || entry.second == ring::MemberState::left;
    });
    for (const auto& [key, record] : written_) {
      const std::size_t copies = copies_of(key, record);
      ASSERT_GE(copies, 1u) << record.url << " of partition " << key.host.partition << " is lost";
      if (replicas_ == 1 || !all_alive) continue;
      if (copies >= 2) {
        written_twice_.insert({key, storage::record_digest(key.url, record)});
      } else {
        ASSERT_FALSE(written_twice_.contains({key, storage::record_digest(key.url, record)}))
            << record.url << " of partition " << key.host.partition << " had two copies and has one";
      }
    }
  }
  // All nodes hold what they own, with equal copies at all owners and no records anywhere else.
  void check_settled() {
    for (std::uint32_t i = 0; i < few_partitions; ++i) {
      SCOPED_TRACE("partition " + std::to_string(i));
      const auto partition = static_cast<ring::Partition>(i);
      std::optional<std::uint64_t> root;
      std::size_t holders = 0;
      for (auto& [number, n] : nodes_) {
        if (!n->alive) continue;
        SCOPED_TRACE("peer " + std::to_string(number));
        ASSERT_FALSE(n->view->empty());
        ASSERT_EQ(n->partition_manager->tenures().of(partition).holder, n->view->owner(partition))
            << "the owner holds it";
        ASSERT_EQ(n->partition_manager->holds(partition), n->view->owns(partition));
        ASSERT_EQ(fetches(*n, partition), n->view->owns(partition));
        holders += n->partition_manager->holds(partition) ? 1 : 0;
        if (n->view->keeps(partition)) {
          if (!root) root = n->store->root(partition);
          ASSERT_EQ(n->store->root(partition), *root) << "copies differ";
        } else {
          ASSERT_EQ(n->store->counts(partition), storage::Counts{}) << "what it does not keep it has dropped";
        }
      }
      ASSERT_EQ(holders, 1u);
    }
    check_copies();
  }

  PartitionManager::Config config_;
  std::uint32_t replicas_ = 2;
  std::map<std::size_t, std::unique_ptr<ManagedNode>> nodes_;
  std::map<std::size_t, ring::MemberState> states_;
  std::set<std::size_t> hidden_;  // members that no other node knows
  bool views_differ_ = false;     // two nodes may both believe that they own a partition
  Duration late_{};
  bool crawling_ = true;
  FakeWire wire_;
  std::function<bool(std::size_t, std::size_t)> cut_;  // true: the two cannot reach each other
  // True: the packet is lost.
  std::function<bool(std::size_t, const Transfers::Out&)> lost_;
  std::mt19937_64 random_{1};
  Time now_ = at_ms(1'700'000'000'000);
  std::uint64_t next_sequence_ = 1;
  std::map<storage::UrlKey, storage::UrlRecord> written_;  // written and acknowledged
  std::set<std::pair<storage::UrlKey, std::uint64_t>> written_twice_;
  std::vector<ring::PartitionTenure> changes_;
};

}  // namespace orbweaver::test
