#include "node/replication/record_writer.h"

#include <optional>
#include <set>

#include "node/errors/storage_error.h"
#include "node/try.h"

namespace orbweaver {

Result<storage::CommitResult> RecordWriter::commit(const Step& step, const storage::Commit& commit,
                                                   const Written& written) {
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
  if (!written.given) count_outcomes(commit, *done);
  Written mine = written;
  if (written.outcome != nullptr && written.dependent == 0 && state_->settings.replicas > 1)
    mine.dependent = replication_->dependents.begin(Dependents::Kind::outcome);
  ORBWEAVER_TRY(copy_known(step.now, commit, *done, mine));
  const storage::Merge* const fetched = copy_changes(step.now, *done, mine);
  copy_long_waits(step.now, commit, mine.dependent);
  copy_sites(step.now, commit, mine.dependent);
  if (mine.links != nullptr && mine.dependent != 0) wait_for_links(*mine.links, mine.dependent);
  if (mine.outcome != nullptr && mine.dependent != 0)
    if (const auto named = replication_->named_sitemaps.find(mine.outcome->host.partition);
        named != replication_->named_sitemaps.end())
      replication_->dependents.follow(mine.dependent, named->second);
  // Links that turned out to be this peer's own are not with another one yet: who waited for that waits for copies.
  if (!commit.from_outbox.empty() && !commit.merges.empty())
    for (const Dependents::Id id : replication_->outbox.open_entries().waiting_for(commit.from_outbox))
      replication_->replicator.wait_for_all(id);
  replication_->outbox.taken_out(commit.from_outbox);
  replication_->outbox.add(done->outbox, members_->view(), step.now, mine.dependent);
  if (mine.outcome != nullptr && mine.dependent != 0) release_outcome(fetched, mine.dependent);
  following_ = false;
  return std::move(*done);
}

void RecordWriter::warn_if_overfull(const Step& step) {
  const storage::SeenFilter* filter = state_->store->filter();
  if (filter == nullptr || !filter->overfull() || overfull_logged_) return;
  overfull_logged_ = true;
  step.log(LogLevel::warning, "crawl", "the seen-set's filter holds more than it was planned for and may lose more",
           {{"seen_urls", std::to_string(state_->settings.seen_urls)},
            {"fix", "start this peer again with a larger seen_urls, or with seen = exact"}});
}

void RecordWriter::count_outcomes(const storage::Commit& commit, const storage::CommitResult& result) {
  for (std::size_t i = 0; i < commit.merges.size(); ++i)
    if (commit.merges[i].record.state != storage::UrlState::queued &&
        result.outcomes[i] != storage::MergeOutcome::known)
      outcomes_.note(commit.merges[i].record);
}

// Copies what a host has used of its budget, and a long wait. A short wait needs no copy: the peer that takes over does
// so after suspicion_time, and then waits the usual delay anyway.
void RecordWriter::copy_long_waits(Time now, const storage::Commit& commit, Dependents::Id dependent) {
  const View& view = members_->view();
  for (const auto& [host, clock] : commit.clocks) {
    const Duration usual = state_->sites.pacing(clock.host).delay + state_->settings.suspicion_time;
    if (clock.until(now) - now <= usual && !clock.used()) continue;
    if (!replication_->partition_manager.holds(host.partition) || view.copies(host.partition).empty()) continue;
    std::string record;
    storage::encode_wait(clock, now, record);
    replication_->replicator.write(view, host.partition, std::move(record), now, dependent);
  }
}

// What is kept of sites. Cookies whose row goes have expired, and so have their copies.
void RecordWriter::copy_sites(Time now, const storage::Commit& commit, Dependents::Id dependent) {
  const View& view = members_->view();
  const auto copy = [&](const storage::HostKey& site, std::string record) {
    if (view.copies(site.partition).empty() || !replication_->partition_manager.holds(site.partition)) return;
    replication_->replicator.write(view, site.partition, std::move(record), now, dependent);
  };
  for (const auto& [site, cookies] : commit.cookies) {
    if (!cookies) continue;
    std::string record;
    storage::encode_cookies(*cookies, record);
    copy(site, std::move(record));
  }
  for (const auto& [site, use] : commit.uses) {
    std::string record;
    storage::encode_use(use, record);
    copy(site, std::move(record));
  }
}

// Who sent a link forgets it once it has its copies. A link that was known already may lack them where an earlier
// process admitted it, or a copy is being filled: it is copied as it is stored. Else its copy may be on its way.
Result<void> RecordWriter::copy_known(Time now, const storage::Commit& commit, const storage::CommitResult& result,
                                      const Written& written) {
  const View& view = members_->view();
  std::optional<ring::Partition> waited;
  for (std::size_t i = 0; i < commit.merges.size(); ++i) {
    const storage::Merge& merge = commit.merges[i];
    const ring::Partition partition = merge.key.host.partition;
    if (result.outcomes[i] != storage::MergeOutcome::known) continue;
    if (written.outcome != nullptr && merge.key == *written.outcome) continue;  // a link of the page to itself
    if (!view.owns(partition) && !replication_->partition_manager.holds(partition)) continue;
    if (written.dependent != 0 && waited != partition) {
      replication_->replicator.wait_for(view, partition, written.dependent);
      waited = partition;
    }
    if (written.given || view.copies(partition).empty() ||
        replication_->partition_manager.copies_whole(partition, view))
      continue;
    const auto stored = state_->store->find(merge.key);
    if (!stored) return tl::make_unexpected(error_of(stored.error()));
    if (!*stored) continue;  // the filter takes it as seen
    storage::Merge copy{merge.key, **stored};
    if (copy.record.url.empty()) copy.record.url = merge.record.url;
    if (replication_->outcome(copy) != Transfers::Outcome::leaves)
      copy.record = storage::before_fetch(std::move(copy.record));
    std::string record;
    storage::encode_record(copy.record, record);
    replication_->replicator.write(view, partition, std::move(record), now, written.dependent);
  }
  return {};
}

void RecordWriter::wait_for_links(const KnownLinks& links, Dependents::Id dependent) {
  for (const ring::Partition partition : std::set(links.own.begin(), links.own.end()))
    replication_->replicator.wait_for(members_->view(), partition, dependent);
  const std::uint64_t safe = replication_->outbox.safe();
  for (const std::uint64_t number : links.foreign)
    if (number >= safe) replication_->outbox.open_entries().wait_for(number, dependent);
}

// What a commit changed in partitions that this peer owns or holds goes to their other copies. Not the outcome of a
// page that was fetched, which is returned: it goes when it waits for nothing more.
const storage::Merge* RecordWriter::copy_changes(Time now, const storage::CommitResult& result,
                                                 const Written& written) {
  const View& view = members_->view();
  const storage::Merge* fetched = nullptr;
  for (const storage::Merge& merge : result.changed) {
    const ring::Partition partition = merge.key.host.partition;
    const bool fetched_here = written.outcome != nullptr && merge.key == *written.outcome;
    if (!view.owns(partition) && !replication_->partition_manager.holds(partition)) {
      if (!fetched_here) continue;
      // It was fetched for a partition that was lost meanwhile.
      replication_->partition_manager.late_write(partition);
    }
    if (view.copies(partition).empty()) {
      if (state_->settings.replicas > 1) note_alone(merge, fetched_here);
      continue;
    }
    if (fetched_here && merge.record.state == storage::UrlState::fetched) {
      fetched = &merge;
      continue;
    }
    std::string record;
    const bool again = merge.record.state == storage::UrlState::queued;  // it may have had another visit
    const bool waits = replication_->replicator.waits(merge.key);
    // This visit ended without links, and those of the one before are not safe yet.
    if (waits && !again) fill_later({partition, now});
    if (waits || (again && replication_->outcome(merge) != Transfers::Outcome::leaves)) {
      storage::encode_record(storage::before_fetch(merge.record), record);
    } else {
      storage::encode_record(merge.record, record);
    }
    replication_->replicator.write(view, partition, std::move(record), now, written.dependent);
  }
  return fetched;
}

// No other peer keeps copies. What was written into another one's partition goes to that one, once more if need be.
void RecordWriter::note_alone(const storage::Merge& merge, bool fetched_here) {
  const ring::Partition partition = merge.key.host.partition;
  if (fetched_here) replication_->copied_until.note_alone(merge.record.since, state_->store->next_outbox());
  if (!replication_->partition_manager.holds(partition)) replication_->partition_manager.late_write(partition);
}

void RecordWriter::release_outcome(const storage::Merge* fetched, Dependents::Id dependent) {
  if (fetched == nullptr) return replication_->dependents.forget(dependent);
  const ring::Partition partition = fetched->key.host.partition;
  // "Not modified": its links are those of an earlier visit, which may lack copies still.
  const bool earlier_links = fetched->record.status == 304;
  if (earlier_links && (!replication_->copied_until.settled() || replication_->replicator.waits(fetched->key))) {
    replication_->dependents.forget(dependent);
    return fill_later({partition, fetched->record.since});
  }
  std::string record;
  storage::encode_record(fetched->record, record);
  // Its links, and earlier records of the page itself.
  replication_->replicator.wait_for(members_->view(), partition, dependent);
  replication_->replicator.write_after(partition, fetched->key, std::move(record), fetched->record.since, dependent);
  for (const Replicator::GivenUp& page : replication_->replicator.take_given_up()) fill_later(page);
}

// The page's outcome does not leave by itself. A fill brings it, once all links that there are now have their copies.
void RecordWriter::fill_later(const Replicator::GivenUp& page) {
  replication_->copied_until.note_unsent(page.fetched, state_->store->next_outbox(), replication_->replicator.issued());
  replication_->partition_manager.note_unsent(page.partition, members_->view());
}

}  // namespace orbweaver
