#include "node/replication/record_writer.h"

#include "node/errors/storage_error.h"

namespace orbweaver {

Result<storage::CommitResult> RecordWriter::commit(const Step& step, const storage::Commit& commit,
                                                   const storage::UrlKey* outcome) {
  following_ = true;
  auto done = state_->store->commit(commit);
  if (!done) {
    following_ = false;
    return tl::make_unexpected(error_of(done.error()));
  }
  for (const storage::NewlyQueued& queued : done->queued)
    bench_->admit(queued.url, CanonicalUrl::host_in(queued.url.url), queued.moved);
  for (const storage::UrlKey& key : done->unqueued) bench_->withdraw(key);
  warn_if_overfull(step);
  replication_->outbox.taken_out(commit.from_outbox);
  copy_changes(step.now, *done, outcome);
  copy_long_waits(step.now, commit);
  replication_->outbox.add(done->outbox, members_->view(), step.now);
  following_ = false;
  return std::move(*done);
}

void RecordWriter::warn_if_overfull(const Step& step) {
  const storage::SeenFilter* filter = state_->store->filter();
  if (filter == nullptr || !filter->overfull() || overfull_told_) return;
  overfull_told_ = true;
  step.log(LogLevel::warning, "crawl", "the seen-set's filter holds more than it was planned for and may lose more",
           {{"seen_urls", std::to_string(state_->settings.seen_urls)},
            {"fix", "start this peer again with a larger seen_urls, or with seen = exact"}});
}

// What a host has used of its budget; and a long wait: whichever peer takes over does so after suspicion_time, and
// waits the usual delay without being told.
void RecordWriter::copy_long_waits(Time now, const storage::Commit& commit) {
  const View& view = members_->view();
  for (const auto& [host, clock] : commit.clocks) {
    const Duration usual = state_->sites.pacing(clock.host).delay + state_->settings.suspicion_time;
    if (clock.next_allowed - now <= usual && !clock.used()) continue;
    if (!replication_->partition_manager.holds(host.partition) || view.copies(host.partition).empty()) continue;
    std::string record;
    storage::encode_wait(clock, now, record);
    replication_->replicator.write(view, host.partition, std::move(record), now);
  }
}

// What a commit changed in partitions that this peer owns or holds goes to their other copies: the outcome last, for it
// waits for all that was written before it.
void RecordWriter::copy_changes(Time now, const storage::CommitResult& result, const storage::UrlKey* outcome) {
  const View& view = members_->view();
  const storage::Merge* fetched = nullptr;
  for (const storage::Merge& merge : result.changed) {
    const ring::Partition partition = merge.key.host.partition;
    const bool fetched_here = outcome != nullptr && merge.key == *outcome;
    if (!view.owns(partition) && !replication_->partition_manager.holds(partition)) {
      if (!fetched_here) continue;
      // It was fetched for a partition that was lost meanwhile.
      replication_->partition_manager.late_write(partition);
      replication_->plan_due = true;
    }
    if (view.copies(partition).empty()) continue;
    if (fetched_here && merge.record.state == storage::UrlState::fetched) {
      fetched = &merge;
      continue;
    }
    std::string record;
    storage::encode_record(merge.record, record);
    replication_->replicator.write(view, partition, std::move(record), now);
  }
  if (fetched == nullptr) return;
  std::string record;
  storage::encode_record(fetched->record, record);
  replication_->replicator.write_after(fetched->key.host.partition, fetched->key, std::move(record),
                                       state_->store->next_outbox());
}

}  // namespace orbweaver
