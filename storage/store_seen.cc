// Answers for the table of URLs from memory: the filter, and the sets of fingerprints.
#include <algorithm>
#include <array>

#include "storage/store.h"
#include "storage/store_rows.h"

namespace orbweaver::storage {

namespace {

// Of a page that was fetched or has failed, a set needs no more than that.
std::optional<UrlState> end_of(std::string_view row) {
  if (row.empty()) return std::nullopt;
  const auto state = static_cast<UrlState>(static_cast<std::uint8_t>(row[0]) & ~fetched_here_mark);
  const bool ended = state == UrlState::fetched || state == UrlState::failed;
  return ended ? std::optional(state) : std::nullopt;
}

}  // namespace

// A set is exact, so it is asked about every merge; the filter is asked only about links. When none of several merges
// with one key changes anything, all of them together change nothing.
void Store::judge(const Commit& commit, const std::vector<std::size_t>& sorted, Lookup::Group& group) const {
  const auto merge_at = [&](std::size_t i) -> const Merge& { return commit.merges[sorted[i]]; };
  if (sets_ != nullptr) {
    SeenSets::Verdict verdict = sets_->judge(merge_at(group.first).key, merge_at(group.first).record);
    for (std::size_t i = group.first + 1; verdict == SeenSets::Verdict::known && i < group.last; ++i)
      verdict = sets_->judge(merge_at(i).key, merge_at(i).record);
    group.by_set = verdict != SeenSets::Verdict::ask;
    if (verdict == SeenSets::Verdict::known) group.verdict = SeenFilter::Verdict::seen;
    if (verdict == SeenSets::Verdict::fresh) group.verdict = SeenFilter::Verdict::fresh;
  }
  if (!group.by_set && group.link && filter_ != nullptr) group.verdict = filter_->judge(merge_at(group.first).key.url);
}

// The row of the URL that was taken from the queue, if the set knows that nothing has changed it since: an untried URL
// that stays at its depth keeps its place. Rows that were dropped may have come back at another place.
std::optional<Store::Stored> Store::as_queued(const Commit& commit, const UrlKey& key) const {
  const QueuedUrl* const taken = commit.taken;
  if (taken == nullptr || sets_ == nullptr || taken->key != key) return std::nullopt;
  const UntriedPlace* const place = taken->position.untried();
  if (place == nullptr || taken->attempts > 0 || taken->visit > 0 || taken->score > 0) return std::nullopt;
  const std::uint64_t admitted = queue_order_ == QueueOrder::depth ? UINT64_MAX - place->number : place->number;
  if (admitted < dropped_at_) return std::nullopt;
  if (!sets_->untried(key, {taken->depth, taken->steps, taken->off_site})) return std::nullopt;
  Stored stored{{}, taken->position};
  stored.record.depth = taken->depth;
  stored.record.steps = taken->steps;
  stored.record.off_site = taken->off_site;
  stored.record.url = taken->url;
  return stored;
}

void Store::note_seen(const std::vector<Merge>& changed) {
  for (const Merge& merge : changed) {
    if (filter_ != nullptr) filter_->note(merge.key.url, merge.record.state, merge.record.reason);
    if (sets_ != nullptr) sets_->note(merge.key, merge.record);
  }
}

Result<void> Store::fill_set(const HostKey& host, std::size_t rows) {
  if (sets_ == nullptr) return {};
  const std::optional<std::uint64_t> from = sets_->wanted_from(host);
  if (!from) return {};
  const std::string prefix = bytes_of(host);
  const std::string end = after_prefix(prefix);
  std::string begin = prefix;
  put_be(begin, *from > 1 ? *from : std::uint64_t{0});  // 1 represents 0 too
  const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::urls, end);
  std::optional<std::uint64_t> reached;
  for (cursor->seek(begin); cursor->valid(); cursor->next()) {
    if (cursor->key().size() != host_key_bytes + 16)
      return fail(ErrorKind::corrupt, "a row of the table of URLs has a key of another size");
    const UrlKey key{host, digest_at(cursor->key(), host_key_bytes)};
    reached = SeenSets::fingerprint(key.url);
    if (rows == 0) break;
    UrlRecord known;
    if (const std::optional<UrlState> state = end_of(cursor->value())) {
      known.state = *state;
    } else {
      Result<Stored> stored = decode_stored(cursor->value(), key.url);
      if (!stored) return tl::make_unexpected(stored.error());
      known = std::move(stored->record);
    }
    if (!sets_->load(key, known)) break;
    reached.reset();
    --rows;
    ++seen_.set_rows;
  }
  if (Result<void> status = noted(cursor->status()); !status) return status;
  sets_->loaded_to(host, reached);
  return {};
}

void Store::close_set(const HostKey& host) {
  if (sets_ != nullptr) sets_->close(host);
}

// Reads only the state and the reason of a row:
// u8 state, a queued one's position, then record_format, state, reason (record.h).
Result<void> Store::use_filter(const SeenFilter::Config& config) {
  auto filter = std::make_unique<SeenFilter>(config);
  const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::urls, {});
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    const std::string_view row = cursor->value();
    const bool queued = !row.empty() && row[0] == static_cast<char>(UrlState::queued);
    const std::size_t record = 1 + (queued ? position_bytes : 0);
    if (cursor->key().size() != host_key_bytes + 16 || row.size() < record + record_head_bytes)
      return fail(ErrorKind::corrupt, "a short row in the table of URLs");
    filter->note(digest_at(cursor->key(), host_key_bytes), static_cast<UrlState>(row[record + 1]),
                 static_cast<Reason>(row[record + 2]));
  }
  if (Result<void> status = noted(cursor->status()); !status) return status;
  filter_ = std::move(filter);
  return {};
}

}  // namespace orbweaver::storage
