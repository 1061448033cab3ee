// PartitionManagers that start again: a ring of a few, and what their disks have.
#pragma once

#include "tests/unit/partition_manager_fixture.h"

namespace orbweaver::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PartitionRestartTest : public PartitionManagerTest {
 protected:
  void form(std::size_t peers) {
    for (std::size_t peer = 1; peer <= peers; ++peer) {
      begin(peer);
      run(seconds(3));
    }
    settle();
    crawling_ = false;
  }
  ring::Partition held_by(std::size_t number) {
    ring::Partition partition = 0;
    while (!node(number).partition_manager->holds(partition)) ++partition;
    return partition;
  }
  // Of three, where the first holds it.
  std::size_t with_copy(ring::Partition partition) { return node(2).view->keeps(partition) ? 2 : 3; }
  std::size_t without_copy(ring::Partition partition) { return 5 - with_copy(partition); }
  // The peer has fetched the page, and its outcome has left for nobody yet.
  void fetch(ManagedNode& n, storage::Merge page) {
    page.record.state = storage::UrlState::fetched;
    page.record.since = now_;
    page.record.fetched_here = true;
    EXPECT_TRUE(n.store->commit(test::commit_of({.merges = {page}})));
  }
  storage::Merge known_to(ManagedNode& n, ring::Partition partition) {
    const storage::Merge record = test::queued_merge(test::hosts_in(partition, 1)[0], 7'777, 1);
    EXPECT_TRUE(n.store->commit(test::commit_of({.merges = {record}})));
    return record;
  }
  // What a copy says that has nothing of the partition any more.
  static ring::Roots lost_all(const PartitionManager& holder, ring::Partition partition) {
    return {.sequence = 1,
            .kind = ring::TransferKind::return_,
            .roots = {{partition, 0}},
            .tenures = {{partition, holder.tenures().of(partition)}},
            .give = true};
  }
  // As a peer does that has pages of an earlier process.
  void unsettle(std::size_t number) { ASSERT_TRUE(node(number).copied_until.restore("", now_)); }
  void move(std::size_t number) {
    node(number).copied_until.move(now_ + seconds(1), now_ + seconds(1), 0, 0);
    node(number).plan_due = true;
  }
};

}  // namespace orbweaver::test
