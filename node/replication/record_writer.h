// Changes of the store, and what follows from each in memory, in one place: the frontier, the outbox, the copies for
// other peers. Thread rule: one owner (the peer's loop).
#pragma once

#include "node/crawl/step.h"
#include "node/frontier/workbench.h"
#include "node/replication/members.h"
#include "node/replication/replication.h"

namespace orbweaver {

class RecordWriter {
 public:
  // All outlive it.
  RecordWriter(const PeerState& state, const Members& members, Replication& replication, Workbench& bench)
      : state_(&state), members_(&members), replication_(&replication), bench_(&bench) {}

  // One write. An error: the store failed, nothing else happened, and the process has to end.
  // `outcome`: of a page that this peer fetched; it has no copies before what the page brought has.
  Result<storage::CommitResult> commit(const Step& step, const storage::Commit& commit,
                                       const storage::UrlKey* outcome = nullptr);
  // The disk is ahead of memory: an exception now ends the process, and the next one reads the disk.
  bool memory_follows() const { return following_; }

 private:
  void warn_if_overfull(const Step& step);
  void copy_changes(Time now, const storage::CommitResult& result, const storage::UrlKey* outcome);
  void copy_long_waits(Time now, const storage::Commit& commit);

  const PeerState* state_;
  const Members* members_;
  Replication* replication_;
  Workbench* bench_;
  bool following_ = false;
  bool overfull_told_ = false;  // of the seen-set's filter
};

}  // namespace orbweaver
