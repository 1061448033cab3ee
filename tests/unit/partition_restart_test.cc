// PartitionManagers after a restart: a holder asks what the others have before it fetches, and hands nothing over
// before its pages have their copies (docs/decisions/0026-after-a-restart.md).
#include "tests/unit/partition_restart_fixture.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::few_partitions;
using test::ManagedNode;
using test::PartitionRestartTest;

// What it acknowledged and lost in a power cut comes back before its host is asked.
TEST_F(PartitionRestartTest, AHolderGetsBackWhatItsReplicaHasBeforeItFetches) {
  form(2);
  const ring::Partition partition = held_by(1);
  const storage::Merge lost = known_to(node(2), partition);
  kill(1);
  run(milliseconds(100));
  begin(1);
  for (int i = 0; i < 1'000 && !node(1).partition_manager->fetches(partition); ++i) step();
  EXPECT_TRUE(node(1).partition_manager->fetches(partition));
  EXPECT_TRUE(*node(1).store->find(lost.key));
  settle();
  check_settled();
}

// The power failed after a hand-over, and the tenure is not on the disk either: the others tell the peer what it holds.
TEST_F(PartitionRestartTest, WhatAnEarlierProcessWasHandedIsAskedForBeforeItIsFetched) {
  form(2);
  const ring::Partition partition = held_by(2);
  const ring::Tenure tenure = node(2).partition_manager->tenures().of(partition);
  ASSERT_GT(tenure.epoch, 1u) << "it was handed over";
  const storage::Merge lost = known_to(node(1), partition);
  kill(2);
  run(milliseconds(100));
  storage::Commit back;
  back.meta.push_back(tenure_row({partition, {tenure.epoch - 1, node(1).id}}));
  ASSERT_TRUE(node(2).store->commit(back));
  begin(2);
  for (int i = 0; i < 1'000 && !node(2).partition_manager->fetches(partition); ++i) step();
  EXPECT_TRUE(node(2).partition_manager->fetches(partition));
  EXPECT_TRUE(*node(2).store->find(lost.key));
  EXPECT_GT(node(2).partition_manager->held_since(partition), Time{}) << "its hosts' waits may be lost too";
  settle();
  check_settled();
}

TEST_F(PartitionRestartTest, NothingIsHandedOverBeforePagesOfAnEarlierProcessHaveTheirCopies) {
  form(2);
  unsettle(1);
  begin(3);
  run(seconds(10));
  const auto held = node(1).partition_manager->held();
  std::size_t owned = 0;
  for (std::uint32_t i = 0; i < few_partitions; ++i)
    owned += node(1).view->owns(static_cast<ring::Partition>(i)) ? 1 : 0;
  EXPECT_GT(held, owned) << "the newcomer owns some of them by now";
  EXPECT_EQ(node(1).partition_manager->to_hand_over(), 0u);
  move(1);
  settle();
  check_settled();
  EXPECT_LT(node(1).partition_manager->held(), held);
}

// Seed 5149 of the simulator: a link was its finder's alone, in a partition that the finder had not taken over yet. The
// page's outcome left, since all that could be returned had been.
TEST_F(PartitionRestartTest, WhatADeadPeerHeldIsWholeOnlyWhenAnotherHoldsIt) {
  form(3);
  const ring::Partition partition = held_by(1);
  ManagedNode& other = node(without_copy(partition));
  ASSERT_TRUE(other.partition_manager->all_whole(*other.view));
  node(2).confirmed = node(3).confirmed = false;  // nobody takes over yet
  kill(1);
  bury(1);
  const storage::Merge kept = known_to(other, partition);
  other.partition_manager->late_write(partition);
  run(seconds(5));
  ASSERT_EQ(other.partition_manager->tenures().of(partition).holder, node(1).id);
  EXPECT_EQ(other.partition_manager->to_return(), 0u);
  EXPECT_FALSE(other.partition_manager->all_whole(*other.view));
  for (const std::size_t number : {2u, 3u}) node(number).confirmed = node(number).plan_due = true;
  settle();
  EXPECT_TRUE(other.partition_manager->all_whole(*other.view));
  EXPECT_EQ(copies_of(kept.key, kept.record), 2u);
}

// Its holder takes nothing back for good before its copies are whole, and this peer's are whole only when nothing is to
// be returned.
TEST_F(PartitionRestartTest, WhatIsNotSettledAnyMoreReleasesNothing) {
  form(3);
  const ring::Partition partition = held_by(1);
  const std::size_t number = without_copy(partition);
  ManagedNode& other = node(number);
  ASSERT_FALSE(other.view->keeps(partition));
  const auto releases = [&] { return other.partition_manager->transfers().tasks(ring::TransferKind::release); };
  unsettle(number);
  const storage::Merge kept = known_to(other, partition);
  other.partition_manager->late_write(partition);
  run(seconds(5));
  ASSERT_TRUE(*node(1).store->find(kept.key)) << "returned, and kept";
  ASSERT_EQ(other.partition_manager->to_return(), 0u);
  lost_ = [number](std::size_t from, const Transfers::Out&) { return from == number; };
  move(number);
  run(seconds(1));
  ASSERT_EQ(releases(), 1u);
  unsettle(number);
  run(seconds(1));
  EXPECT_EQ(releases(), 0u);
  EXPECT_EQ(other.partition_manager->to_return(), 0u);
  EXPECT_TRUE(*other.store->find(kept.key));
  lost_ = {};
  move(number);
  settle();
  check_settled();
}

// The return has passed it already.
TEST_F(PartitionRestartTest, WhatIsWrittenWhileAPartitionIsReturnedIsReturnedToo) {
  form(3);
  const ring::Partition partition = held_by(1);
  const std::size_t number = without_copy(partition);
  ManagedNode& other = node(number);
  ASSERT_FALSE(other.view->keeps(partition));
  unsettle(number);
  known_to(other, partition);
  other.partition_manager->late_write(partition);
  bool sent = false;
  lost_ = [&](std::size_t from, const Transfers::Out& out) {
    const bool batch = from == number && std::holds_alternative<ring::Batch>(out.body);
    sent = sent || batch;
    return batch;
  };
  run(seconds(1));
  ASSERT_TRUE(sent);
  const storage::Merge later = test::queued_merge(test::hosts_in(partition, 1)[0], 8'888, 1);
  ASSERT_TRUE(other.store->commit(test::commit_of({.merges = {later}})));
  other.partition_manager->late_write(partition);
  lost_ = {};
  EXPECT_EQ(other.partition_manager->to_return(), 1u);
  run(seconds(30));
  EXPECT_EQ(other.partition_manager->to_return(), 0u);
  EXPECT_TRUE(*node(1).store->find(later.key));
  move(number);
  settle();
  check_settled();
}

// Seed 31353 of the simulator: a peer that left kept each link until it was gone, and sent all that it had of the
// partition with each of them.
TEST_F(PartitionRestartTest, WhatIsWrittenLinkByLinkIsReturnedOnceASecond) {
  form(3);
  const ring::Partition partition = held_by(1);
  const std::size_t number = without_copy(partition);
  ManagedNode& other = node(number);
  ASSERT_FALSE(other.view->keeps(partition));
  unsettle(number);
  std::size_t sent = 0;
  lost_ = [&](std::size_t from, const Transfers::Out& out) {
    if (const auto* batch = std::get_if<ring::Batch>(&out.body); batch != nullptr && from == number)
      sent += batch->records.size();
    return false;
  };
  constexpr std::size_t links = 200;
  for (std::size_t page = 0; page < links; ++page) {
    const storage::Merge link = test::queued_merge(test::hosts_in(partition, 1)[0], page, 1);
    ASSERT_TRUE(other.store->commit(test::commit_of({.merges = {link}})));
    other.partition_manager->late_write(partition);
    run(milliseconds(20));
  }
  run(seconds(5));
  EXPECT_EQ(other.partition_manager->to_return(), 0u);
  EXPECT_LT(sent, 6 * links);  // four seconds of writing
  EXPECT_GE(sent, links);
  EXPECT_TRUE(*node(1).store->find(test::queued_merge(test::hosts_in(partition, 1)[0], links - 1, 1).key));
  lost_ = {};
  move(number);
  settle();
  check_settled();
}

// Before it drops its copy, a peer asks only whether there are enough others: what came since it sent all goes too.
TEST_F(PartitionRestartTest, WhatIsWrittenBeforeACopyIsDroppedIsReturnedFirst) {
  form(3);
  const ring::Partition partition = held_by(1);
  const std::size_t number = without_copy(partition);
  ManagedNode& other = node(number);
  bool asked = false;
  lost_ = [&](std::size_t from, const Transfers::Out& out) {
    const auto* const roots = std::get_if<ring::Roots>(&out.body);
    asked = asked || (from == number && roots != nullptr && roots->kind == ring::TransferKind::release &&
                      roots->roots.front().root == 0);
    return false;
  };
  known_to(other, partition);
  other.partition_manager->late_write(partition);
  for (int i = 0; i < 10'000 && !asked; ++i) step();
  ASSERT_TRUE(asked) << "all is sent";
  const storage::Merge later = test::queued_merge(test::hosts_in(partition, 1)[0], 8'888, 1);
  ASSERT_TRUE(other.store->commit(test::commit_of({.merges = {later}})));
  other.partition_manager->late_write(partition);
  settle();
  EXPECT_TRUE(*node(1).store->find(later.key));
  check_settled();
}

// Not only when the copies are compared: until then the holder has the page as queued, and the crawl may end.
TEST_F(PartitionRestartTest, WhatWasReturnedAsQueuedIsReturnedAgainWhenAllIsSettled) {
  form(3);
  const ring::Partition partition = held_by(1);
  const std::size_t number = with_copy(partition);
  ManagedNode& copy = node(number);
  ASSERT_TRUE(copy.view->keeps(partition));
  unsettle(number);
  const storage::Merge page = test::queued_merge(test::hosts_in(partition, 1)[0], 7'777, 1);
  fetch(copy, page);
  copy.partition_manager->late_write(partition);
  const Time all_compared = now_ + config_.compare_every;
  run(milliseconds(500));
  ASSERT_TRUE(*node(1).store->find(page.key));
  ASSERT_EQ((*node(1).store->find(page.key))->state, storage::UrlState::queued);
  EXPECT_TRUE(copy.partition_manager->fills());
  move(number);
  run(seconds(1));
  ASSERT_LT(now_, all_compared);
  EXPECT_EQ((*node(1).store->find(page.key))->state, storage::UrlState::fetched);
  EXPECT_FALSE(copy.partition_manager->fills());
  settle();
  check_settled();
}

// The return took the page as it was before: nothing says that it was fetched until the copies are compared.
TEST_F(PartitionRestartTest, AnOutcomeThatIsGivenUpAfterTheReturnIsReturnedWhenAllIsSettled) {
  form(3);
  const ring::Partition partition = held_by(1);
  const std::size_t number = with_copy(partition);
  ManagedNode& copy = node(number);
  ASSERT_TRUE(copy.view->keeps(partition));
  unsettle(number);
  const Time all_compared = now_ + config_.compare_every;
  const storage::Merge page = known_to(copy, partition);
  copy.partition_manager->late_write(partition);
  run(milliseconds(500));
  ASSERT_TRUE(*node(1).store->find(page.key));
  ASSERT_EQ(copy.partition_manager->to_return(), 0u);
  fetch(copy, page);
  copy.partition_manager->note_unsent(partition, *copy.view);
  EXPECT_TRUE(copy.partition_manager->fills());
  move(number);
  run(seconds(1));
  ASSERT_LT(now_, all_compared);
  EXPECT_EQ((*node(1).store->find(page.key))->state, storage::UrlState::fetched);
  settle();
  check_settled();
}

// Seed 3633 of the simulator: the fill had begun before, and ended after all was settled.
TEST_F(PartitionRestartTest, AnOutcomeThatIsGivenUpBehindAFillIsFilledWhenAllIsSettled) {
  form(2);
  const ring::Partition partition = held_by(1);
  std::vector<storage::Merge> records;
  for (std::uint64_t url = 1; url <= 1'000; ++url)
    records.push_back(test::queued_merge(test::hosts_in(partition, 1)[0], url, 1));
  ASSERT_TRUE(node(1).store->commit(test::commit_of({.merges = records})));
  const storage::Merge page = node(1).store->scan(partition, nullptr, 1)->front();
  node(1).copied_until.move(now_, now_, 0, 0);
  const Time all_compared = now_ + config_.compare_every;
  node(1).partition_manager->on_roots(node(2).id, lost_all(*node(1).partition_manager, partition), *node(1).view);
  node(1).plan_due = true;
  while (node(2).store->counts(partition).discovered() < records.size() / 2) run(step_time);
  ASSERT_TRUE(*node(2).store->find(page.key));
  ASSERT_GT(node(1).partition_manager->transfers().fills(), 0u);
  fetch(node(1), page);
  node(1).copied_until.note_unsent(now_, 0, 0);
  run(step_time);  // not settled
  node(1).partition_manager->note_unsent(partition, *node(1).view);
  move(1);
  run(seconds(1));
  ASSERT_LT(now_, all_compared);
  EXPECT_EQ((*node(2).store->find(page.key))->state, storage::UrlState::fetched);
  EXPECT_FALSE(node(1).partition_manager->fills());
  settle();
  check_settled();
}

// Else the outcome of a page would be on the holder's disk alone.
TEST_F(PartitionRestartTest, ACopyIsDroppedOnlyWhenTheOthersHaveEachOutcome) {
  form(3);
  const ring::Partition partition = held_by(1);
  const std::size_t number = without_copy(partition);
  ManagedNode& other = node(number);
  ASSERT_FALSE(other.view->keeps(partition));
  unsettle(1);
  node(1).partition_manager->note_unsent(partition, *node(1).view);
  const storage::Merge kept = known_to(other, partition);
  move(number);
  run(seconds(5));
  ASSERT_TRUE(*node(1).store->find(kept.key)) << "returned, and kept";
  EXPECT_TRUE(*other.store->find(kept.key));
  EXPECT_EQ(other.partition_manager->to_return(), 1u);
  move(1);
  settle();
  check_settled();
  EXPECT_FALSE(*other.store->find(kept.key));
}

// It differs, so it would return what it has each time, and a peer that has something to return does not settle either.
TEST_F(PartitionRestartTest, ACopyWithPagesAsQueuedIsNotComparedUntilAllIsSettled) {
  form(2);
  const ring::Partition partition = held_by(1);
  storage::Merge page = known_to(node(1), partition);
  run(config_.compare_every * (2 + few_partitions / config_.compare_partitions) + seconds(2));
  page.record.state = storage::UrlState::fetched;
  page.record.since = now_;
  ASSERT_TRUE(node(1).store->commit(test::commit_of({.merges = {page}})));
  unsettle(1);
  node(1).partition_manager->note_unsent(partition, *node(1).view);
  ASSERT_TRUE(*node(2).store->find(page.key));
  EXPECT_EQ((*node(2).store->find(page.key))->state, storage::UrlState::queued);
  const auto sent = [&] {
    return node(1).partition_manager->transfers().records_sent() +
           node(2).partition_manager->transfers().records_sent();
  };
  const std::uint64_t before = sent();
  run(config_.compare_every * (4 + 2 * few_partitions / config_.compare_partitions));
  EXPECT_EQ(sent(), before);
  move(1);
  settle();
  check_settled();
  EXPECT_EQ((*node(2).store->find(page.key))->state, storage::UrlState::fetched);
}

// Seed 1370 of the simulator: a copy of a busy partition hardly ever looks the same when the holder asks for it. If
// that counted as a loss, the holder of many such would never settle, and others could never drop what they have
// handed over.
TEST_F(PartitionRestartTest, ACopyIsFilledAgainWhenItMayHaveLostSomethingNotWhenItWasAsked) {
  form(2);
  const ring::Partition partition = held_by(1);
  PartitionManager& holder = *node(1).partition_manager;
  ring::Roots question{.sequence = 1,
                       .kind = ring::TransferKind::return_,
                       .roots = {{partition, node(2).store->root(partition)}},
                       .tenures = {{partition, holder.tenures().of(partition)}}};
  (void)known_to(node(1), partition);
  EXPECT_EQ(holder.on_roots(node(2).id, question, *node(1).view).differ, std::vector{partition});
  EXPECT_TRUE(holder.copies_whole(partition, *node(1).view));
  question.give = true;
  EXPECT_EQ(holder.on_roots(node(2).id, question, *node(1).view).differ, std::vector{partition});
  EXPECT_FALSE(holder.copies_whole(partition, *node(1).view));
  settle();
  check_settled();
}

// Seed 513 of the simulator: a power cut had taken all that a copy had of a partition.
TEST_F(PartitionRestartTest, ACopyThatLostAllIsFilledAgain) {
  form(2);
  const ring::Partition partition = held_by(1);
  PartitionManager& holder = *node(1).partition_manager;
  (void)known_to(node(1), partition);
  const ring::Roots question = lost_all(holder, partition);
  EXPECT_TRUE(holder.on_roots(node(2).id, question, *node(1).view).differ.empty()) << "it has nothing to return";
  EXPECT_FALSE(holder.copies_whole(partition, *node(1).view));
  settle();
  check_settled();
}

// Seed 25034 of the simulator: the fill went on where it had stood before the power cut.
TEST_F(PartitionRestartTest, AFillUnderWayBeginsAnewWhenTheCopyMayHaveLostSome) {
  form(2);
  const ring::Partition partition = held_by(1);
  PartitionManager& holder = *node(1).partition_manager;
  (void)known_to(node(1), partition);
  const ring::Roots question = lost_all(holder, partition);
  (void)holder.on_roots(node(2).id, question, *node(1).view);
  std::size_t batches = 0, questions = 0;
  lost_ = [&](std::size_t from, const Transfers::Out& out) {
    const auto* const roots = std::get_if<ring::Roots>(&out.body);
    if (from == 1 && roots != nullptr && roots->kind == ring::TransferKind::backfill) ++questions;
    const bool batch = from == 1 && std::holds_alternative<ring::Batch>(out.body);
    if (batch) ++batches;
    return batch;
  };
  for (int i = 0; i < 1'000 && batches == 0; ++i) step();
  ASSERT_GT(batches, 0u) << "the fill is under way";
  questions = 0;
  (void)holder.on_roots(node(2).id, question, *node(1).view);
  for (int i = 0; i < 100; ++i) step();
  EXPECT_GT(questions, 0u);
  lost_ = {};
  settle();
  check_settled();
}

// The same on both sides: who has started again says that it may lack something.
TEST_F(PartitionRestartTest, ACopyThatStartedAgainIsFilledAgain) {
  form(2);
  const ring::Partition partition = held_by(1);
  const storage::Merge lost = known_to(node(1), partition);
  kill(2);
  run(milliseconds(100));
  begin(2);
  settle();
  EXPECT_TRUE(*node(2).store->find(lost.key));
  check_settled();
}

TEST_F(PartitionRestartTest, AHolderOwesNothingToTheNextOwner) {
  form(2);
  const ring::Partition partition = held_by(1);
  PartitionManager& holder = *node(1).partition_manager;
  const ring::Roots question{.sequence = 1,
                             .kind = ring::TransferKind::backfill,
                             .roots = {{partition, node(1).store->root(partition) + 1}},
                             .tenures = {{partition, holder.tenures().of(partition)}},
                             .give = true};
  ASSERT_EQ(holder.on_roots(node(2).id, question, *node(1).view).differ, std::vector{partition});
  for (const ring::TableSize& table : holder.tables())
    EXPECT_TRUE(table.name != "partitions.asked" || table.entries == 0);
  settle();
  check_settled();
}

// What this peer has done is with the holder; that a busy partition is compared over and over does not undo that.
// Else copied_until would never move in a ring that answers slowly.
TEST_F(PartitionRestartTest, AnAnswerToAComparisonIsNotOwed) {
  form(2);
  const ring::Partition partition = held_by(1);
  PartitionManager& copy = *node(2).partition_manager;
  lost_ = [](std::size_t from, const Transfers::Out&) { return from == 2; };
  const ring::Roots question{.sequence = 1,
                             .kind = ring::TransferKind::backfill,
                             .roots = {{partition, node(2).store->root(partition) + 1}},
                             .tenures = {{partition, copy.tenures().of(partition)}},
                             .give = true};
  ASSERT_EQ(copy.on_roots(node(1).id, question, *node(2).view).differ, std::vector{partition});
  step();
  EXPECT_EQ(copy.transfers().tasks(ring::TransferKind::return_), 1u);
  EXPECT_EQ(copy.to_return(), 0u);
  EXPECT_FALSE(copy.at_rest());
  copy.late_write(partition);
  step();
  EXPECT_EQ(copy.to_return(), 1u) << "the same return brings what is owed";
  lost_ = {};
  settle();
  check_settled();
}

// For a snapshot: what it has handed over stays on its disk until it has made its checkpoint.
TEST_F(PartitionRestartTest, WhoKeepsAllDropsNothingAndIsCalledNoMoreOftenForIt) {
  for (const std::size_t peer : {1u, 2u, 3u}) {
    begin(peer);
    run(seconds(3));
  }
  PartitionManager& leaver = *node(2).partition_manager;
  leaver.keep_all(true);
  const std::uint64_t had = node(2).store->counts().discovered();
  ASSERT_GT(had, 0u);
  leave(2);
  run(seconds(20));
  EXPECT_EQ(leaver.held(), 0u) << "it hands over";
  EXPECT_FALSE(leaver.at_rest()) << "what it may drop waits";
  EXPECT_GE(node(2).store->counts().discovered(), had);
  EXPECT_GT(leaver.next_deadline().value_or(now_), Time{}) << "a loop that never sleeps";
  leaver.keep_all(false);
  settle();
  EXPECT_EQ(node(2).store->counts().discovered(), 0u);
}

class LastButOneLeavesTest : public PartitionRestartTest {
 protected:
  // Of two peers the second leaves, and has handed over all but one partition, which takes long.
  void leave_but_for_one_partition() {
    form(2);
    had_ = node(2).store->counts().discovered();
    ASSERT_GT(had_, 0u);
    node(2).busy[held_by(2)] = now_ + seconds(30);
    leave(2);
    run(seconds(20));
    ASSERT_EQ(node(2).partition_manager->held(), 1u);
  }

  std::uint64_t had_ = 0;
};

// What it has handed over is on one disk only. It may have to stay: with a page there must be its links.
TEST_F(LastButOneLeavesTest, ItDropsNothingBeforeTheOtherHasEverything) {
  leave_but_for_one_partition();
  EXPECT_EQ(node(2).store->counts().discovered(), had_);
  EXPECT_FALSE(node(2).partition_manager->at_rest());
  EXPECT_GT(node(2).partition_manager->next_deadline().value_or(now_), Time{}) << "a loop that never sleeps";
  settle();
  EXPECT_EQ(node(2).partition_manager->held(), 0u);
  EXPECT_EQ(node(2).store->counts().discovered(), 0u);
}

TEST_F(LastButOneLeavesTest, ItGivesAllToWhoeverFollowsTheOther) {
  leave_but_for_one_partition();
  kill(1);
  bury(1);
  begin(3);
  run(seconds(10));
  settle();
  for (const auto& [key, record] : written_) EXPECT_TRUE(*node(3).store->find(key)) << record.url;
  EXPECT_EQ(node(2).store->counts().discovered(), 0u);
}

// Seed 40365 of the simulator: who waited for copies waits no longer when all others seem to be gone. Back, they lack
// what was written meanwhile, and what was on its way.
TEST_F(LastButOneLeavesTest, WhoeverWasGoneIsFilledWhenItIsBack) {
  leave_but_for_one_partition();
  ManagedNode& leaver = node(2);
  const ring::Partition partition = held_by(2);
  ASSERT_TRUE(leaver.partition_manager->copies_whole(partition, *leaver.view));
  bury(1);
  run(seconds(1));
  ASSERT_TRUE(leaver.view->empty());
  leaver.copied_until.note_alone(now_);
  const storage::Merge written = known_to(leaver, partition);
  states_[1] = ring::MemberState::active;
  publish();
  do step();
  while (leaver.partition_manager->plan_open());
  EXPECT_FALSE(leaver.partition_manager->copies_whole(partition, *leaver.view));
  EXPECT_FALSE(leaver.partition_manager->all_whole(*leaver.view));
  run(seconds(3));
  EXPECT_TRUE(leaver.partition_manager->all_whole(*leaver.view));
  EXPECT_TRUE(*node(1).store->find(written.key));
}

}  // namespace
}  // namespace orbweaver
