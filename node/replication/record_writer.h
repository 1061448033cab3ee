// Changes of the store, and what follows from each in memory, in one place: the frontier, the outbox, the copies for
// other peers. Thread rule: one owner (the peer's loop).
#pragma once

#include "node/crawl/outcome_counts.h"
#include "node/crawl/step.h"
#include "node/frontier/workbench.h"
#include "node/replication/members.h"
#include "node/replication/replication.h"

namespace orbweaver {

// What a commit is of, for who waits for its copies.
struct Written {
  const storage::UrlKey* outcome = nullptr;  // of a page that this peer fetched: copied after all that it brought
  bool given = false;                 // another peer's records of partitions that it has: known ones need no copy
  Dependents::Id dependent = 0;       // waits for all that is written, and for what was known already; 0: none
  const KnownLinks* links = nullptr;  // of the page
};

class RecordWriter {
 public:
  // All outlive it.
  RecordWriter(const PeerState& state, const Members& members, Replication& replication, Workbench& bench)
      : state_(&state), members_(&members), replication_(&replication), bench_(&bench) {}

  // One write. An error: the store failed, nothing else happened, and the process has to end.
  // With an outcome the dependent, if there is one, ends here: with the outcome, or for nothing.
  Result<storage::CommitResult> commit(const Step& step, const storage::Commit& commit, const Written& written = {});
  // The disk is ahead of memory: an exception now ends the process, and the next process reads the disk.
  bool memory_follows() const { return following_; }
  // How URLs ended in its commits; not what other peers gave of theirs.
  const OutcomeCounts& outcomes() const { return outcomes_; }

 private:
  void warn_if_overfull(const Step& step);
  void count_outcomes(const storage::Commit& commit, const storage::CommitResult& result);
  const storage::Merge* copy_changes(Time now, const storage::CommitResult& result, const Written& written);
  Result<void> copy_known(Time now, const storage::Commit& commit, const storage::CommitResult& result,
                          const Written& written);
  void copy_long_waits(Time now, const storage::Commit& commit, Dependents::Id dependent);
  void copy_sites(Time now, const storage::Commit& commit, Dependents::Id dependent);
  void wait_for_links(const KnownLinks& links, Dependents::Id dependent);
  void note_alone(const storage::Merge& merge, bool fetched_here);
  void release_outcome(const storage::Merge* fetched, Dependents::Id dependent);
  void fill_later(const Replicator::GivenUp& page);

  const PeerState* state_;
  const Members* members_;
  Replication* replication_;
  Workbench* bench_;
  OutcomeCounts outcomes_;
  bool following_ = false;
  bool overfull_logged_ = false;  // of the seen-set's filter
};

}  // namespace orbweaver
