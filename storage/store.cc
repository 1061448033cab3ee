#include "storage/store.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "storage/store_rows.h"

namespace orbweaver::storage {

namespace {

// Of one host, before the next host is searched for.
constexpr int rows_stepped_over = 4;

}  // namespace

Result<void> check_format(Kv& kv, const std::string& directory) {
  const Result<std::optional<std::string>> found = kv.get(Table::meta, format_name);
  if (!found) return tl::make_unexpected(found.error());
  const std::string ours = std::to_string(store_format);
  if (!*found) {
    KvBatch batch;
    batch.put(Table::meta, format_name, ours);
    return kv.write(batch);
  }
  if (**found == ours) return {};
  return fail(ErrorKind::version, directory + " has format version " + **found + " and this build reads version " +
                                      ours + "; use the version of orbweaver that wrote it, or another directory");
}

Result<Store::Stored> Store::decode_stored(std::string_view bytes, const UrlDigest& url) {
  Stored stored;
  if (bytes.empty()) return fail(ErrorKind::corrupt, "an empty row in the table of URLs");
  const bool queued = bytes[0] == static_cast<char>(UrlState::queued);
  const bool fetched_here = (static_cast<std::uint8_t>(bytes[0]) & fetched_here_mark) != 0;
  bytes.remove_prefix(1);
  if (queued) {
    if (bytes.size() < position_bytes) return fail(ErrorKind::corrupt, "a short row in the table of URLs");
    const std::optional<Position> position = position_at(bytes, 0, url);
    if (!position) return fail(ErrorKind::corrupt, "a row in the table of URLs has an unknown place in the frontier");
    stored.position = *position;
    bytes.remove_prefix(position_bytes);
  }
  Result<UrlRecord> record = decode_record(bytes);
  if (!record) return tl::make_unexpected(record.error());
  stored.record = std::move(*record);
  stored.record.fetched_here = fetched_here;
  if (queued) stored.record.url.clear();
  return stored;
}

Result<Store> Store::open(Kv& kv) {
  Store store(kv);
  const Result<std::optional<std::string>> counts = kv.get(Table::meta, counts_name);
  if (!counts) return tl::make_unexpected(counts.error());
  if (*counts) {
    const std::string& row = **counts;
    if (row.size() != 3 * 8)
      return fail(ErrorKind::corrupt, "the store's counts have " + std::to_string(row.size()) + " bytes");
    store.counts_.outbox = get_be<std::uint64_t>(row, 0);
    store.next_order_ = get_be<std::uint64_t>(row, 8);
    store.next_outbox_ = get_be<std::uint64_t>(row, 16);
  }
  const auto rows = store.meta_rows(std::string(tally_prefix));
  if (!rows) return tl::make_unexpected(rows.error());
  for (const auto& [name, row] : *rows) {
    if (name.size() != 2 || row.size() != tally_bytes)
      return fail(ErrorKind::corrupt, "a partition's counts have " + std::to_string(row.size()) + " bytes");
    Tally& tally = store.tallies_[get_be<std::uint16_t>(name, 0)];
    tally = {get_be<std::uint64_t>(row, 0),
             get_be<std::uint64_t>(row, 8),
             get_be<std::uint64_t>(row, 16),
             get_be<std::uint64_t>(row, 24),
             get_be<std::uint64_t>(row, 32),
             get_be<std::uint64_t>(row, 40),
             false};
    tally.add_to(store.counts_, true);
  }
  store.held_.outbox = store.counts_.outbox;
  const Result<std::optional<std::string>> missed = kv.get(Table::meta, missed_name);
  if (!missed) return tl::make_unexpected(missed.error());
  if (*missed) {
    if ((*missed)->size() != 8) return fail(ErrorKind::corrupt, "the store's count of missed pages cannot be read");
    store.seen_.missed = std::bit_cast<double>(get_be<std::uint64_t>(**missed, 0));
  }
  return store;
}

// `order`: the number of the next admission; a URL that was never tried gets it.
Position Store::position_of(const UrlRecord& record, const UrlDigest& url, std::uint64_t& order) const {
  if (record.attempts > 0) return {RetryPlace{record.not_before}, url};
  const std::uint64_t number = order++;
  switch (queue_order_) {
    case QueueOrder::depth:
      return {UntriedPlace{static_cast<std::uint32_t>(0xffff - record.depth), UINT64_MAX - number}, url};
    case QueueOrder::best:
      return {UntriedPlace{static_cast<std::uint32_t>(0xffff - record.score), number}, url};
    case QueueOrder::breadth:
      break;
  }
  return {UntriedPlace{record.depth, number}, url};
}

// Sorts the keys, so that those of one URL are together. What the filter can answer is not looked up. A group that
// includes a page's own outcome does not count as a link.
Store::Lookup Store::look_up(const Commit& commit) const {
  const std::size_t n = commit.merges.size();
  Lookup lookup;
  lookup.keys.reserve(n);
  for (const Merge& merge : commit.merges) lookup.keys.push_back(bytes_of(merge.key));
  const std::vector<std::string>& keys = lookup.keys;
  std::vector<std::size_t>& sorted = lookup.sorted;
  sorted.resize(n);
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  lookup.groups.reserve(n);
  for (std::size_t first = 0; first < n;) {
    // A link that requests another visit changes a settled record.
    const auto is_link = [&](std::size_t i) {
      return commit.merges[sorted[i]].link && commit.merges[sorted[i]].record.visit == 0;
    };
    Lookup::Group group{first, first + 1, SeenFilter::Verdict::ask, is_link(first)};
    for (; group.last < n && keys[sorted[group.last]] == keys[sorted[first]]; ++group.last)
      group.link = group.link && is_link(group.last);
    judge(commit, sorted, group);
    group.as_taken = group.verdict == SeenFilter::Verdict::ask && as_queued(commit, commit.merges[sorted[first]].key);
    first = group.last;
    lookup.groups.push_back(group);
  }
  return lookup;
}

// Reads the known records of the keys, joins the new ones with them, and stages the rows that change.
Result<void> Store::stage_merges(const Commit& commit, KvBatch& batch, CommitResult& result, Tallies& tallies,
                                 std::uint64_t& order, SeenCounts& seen) {
  result.outcomes.assign(commit.merges.size(), MergeOutcome::known);
  if (commit.merges.empty()) return {};
  const Lookup lookup = look_up(commit);
  const std::vector<std::string>& keys = lookup.keys;
  std::vector<std::string_view> wanted;
  wanted.reserve(lookup.groups.size());
  for (const Lookup::Group& group : lookup.groups)
    if (group.is_read()) wanted.push_back(keys[lookup.sorted[group.first]]);
  std::vector<std::optional<std::string>> rows;
  if (!wanted.empty())
    if (Result<void> read = noted(kv_->multi_get(Table::urls, wanted, rows)); !read) return read;
  seen.reads += wanted.size();

  std::size_t next_row = 0;
  for (const Lookup::Group& group : lookup.groups) {
    if (group.verdict == SeenFilter::Verdict::seen) {
      ++(group.by_set ? seen.known_by_set : seen.taken_as_seen);
      continue;
    }
    const std::size_t at = lookup.sorted[group.first];
    const UrlKey& key = commit.merges[at].key;
    UrlRecord record = commit.merges[at].record;
    for (std::size_t i = group.first + 1; i < group.last; ++i)
      record = merge(record, commit.merges[lookup.sorted[i]].record);
    std::optional<Stored> before;
    if (group.as_taken) {
      before = as_queued(commit, key);
      ++seen.from_queue;
    } else if (group.verdict != SeenFilter::Verdict::ask) {
      ++(group.by_set ? seen.new_by_set : seen.taken_as_new);
    } else if (const std::optional<std::string>& row = rows[next_row++]) {
      Result<Stored> stored = decode_stored(*row, key.url);
      if (!stored) return tl::make_unexpected(stored.error());
      before = std::move(*stored);
      if (before->record.url.empty()) before->record.url = record.url;
    }
    if (before) {
      record = merge(before->record, record);
      if (record == before->record) continue;
    }
    if (!before && group.link && filter_ != nullptr && record.state == UrlState::queued) {
      const double rate = filter_->rate();
      seen.missed += rate < 1 ? rate / (1 - rate) : 0;
    }
    result.outcomes[at] = before ? MergeOutcome::changed : MergeOutcome::added;
    Tally& tally = tally_of(tallies, key.host.partition);
    if (before) {
      --tally.of(before->record.state);
      tally.root -= record_digest(key.url, before->record);
      if (before->record.state == UrlState::queued) {
        batch.remove(Table::frontier, frontier_key(key.host, before->position));
        if (record.state != UrlState::queued) result.unqueued.push_back(key);
      }
    }
    if (!before) ++tally.records;
    ++tally.of(record.state);
    tally.root += record_digest(key.url, record);
    Position position;
    if (record.state == UrlState::queued) {
      // A URL that stays unchanged in the queue keeps its place: one that leads to another form of itself, say.
      const bool stays = before && before->record.state == UrlState::queued && before->record.attempts == 0 &&
                         record.attempts == 0 && before->record.depth == record.depth &&
                         before->record.score == record.score && before->record.visit == record.visit;
      position = stays ? before->position : position_of(record, key.url, order);
      batch.put(Table::frontier, frontier_key(key.host, position), frontier_value(record));
      const bool moved = before && before->record.state == UrlState::queued;
      result.queued.push_back({.url = {.key = key,
                                       .depth = record.depth,
                                       .visit = record.visit,
                                       .score = record.score,
                                       .position = position,
                                       .url = record.url,
                                       .steps = record.steps,
                                       .attempts = record.attempts,
                                       .off_site = record.off_site},
                               .moved = moved});
    }
    batch.put(Table::urls, keys[at], Stored::encode(record, position));
    result.changed.push_back({key, std::move(record)});
  }
  return {};
}

Result<std::optional<std::string>> Store::get(Table table, std::string_view key) { return noted(kv_->get(table, key)); }

Result<CommitResult> Store::commit(const Commit& commit) {
  if (failure_) return tl::make_unexpected(*failure_);
  KvBatch batch;
  CommitResult result;
  Tallies tallies;
  std::uint64_t order = next_order_;
  std::uint64_t outbox = next_outbox_;
  SeenCounts seen = seen_;
  if (Result<void> staged = stage_merges(commit, batch, result, tallies, order, seen); !staged)
    return tl::make_unexpected(staged.error());
  for (const auto& [partition, record] : commit.to_outbox) {
    const OutboxKey key{partition, outbox++};
    batch.put(Table::outbox, outbox_key(key), record);
    result.outbox.push_back({key, record});
  }
  const std::vector<OutboxKey> acknowledged = each_once(commit.from_outbox);
  for (const OutboxKey& key : acknowledged) batch.remove(Table::outbox, outbox_key(key));
  const std::uint64_t in_outbox = counts_.outbox + commit.to_outbox.size() - acknowledged.size();
  for (const auto& [host, clock] : commit.clocks) {
    std::string value;
    encode_clock(clock, value);
    batch.put(Table::hosts, bytes_of(host) + clock_row, value);
  }
  for (const auto& [host, origin, robots] : commit.robots) {
    std::string value;
    encode_stored_robots(robots, value);
    batch.put(Table::hosts, bytes_of(host) + robots_row + origin, value);
  }
  for (const auto& [site, cookies] : commit.cookies) {
    if (!cookies) {
      batch.remove(Table::hosts, bytes_of(site) + cookies_row);
      continue;
    }
    std::string value;
    encode_stored_cookies(*cookies, value);
    batch.put(Table::hosts, bytes_of(site) + cookies_row, value);
  }
  for (const auto& [site, use] : commit.uses) {
    std::string value;
    encode_stored_use(use, value);
    batch.put(Table::hosts, bytes_of(site) + use_row, value);
  }
  for (const auto& [name, value] : commit.meta) batch.put(Table::meta, name, value);
  if (batch.size() == 0) {
    seen_ = seen;
    return result;
  }
  if (commit.synced) batch.sync();
  stage(tallies, batch);
  if (seen.missed != seen_.missed) batch.put(Table::meta, missed_name, missed_row(seen.missed));
  if (in_outbox != counts_.outbox || order != next_order_ || outbox != next_outbox_) {
    std::string row;
    for (const std::uint64_t value : {in_outbox, order, outbox}) put_be(row, value);
    batch.put(Table::meta, counts_name, row);
  }
  if (Result<void> written = kv_->write(batch); !written) return tl::make_unexpected(written.error());
  take_over(tallies);
  seen_ = seen;
  note_seen(result.changed);
  counts_.outbox = held_.outbox = in_outbox;
  next_order_ = order;
  next_outbox_ = outbox;
  return result;
}

Result<std::optional<UrlRecord>> Store::find(const UrlKey& key) {
  const Result<std::optional<std::string>> row = get(Table::urls, bytes_of(key));
  if (!row) return tl::make_unexpected(row.error());
  if (!*row) return std::optional<UrlRecord>();
  Result<Stored> stored = noted(decode_stored(**row, key.url));
  if (!stored) return tl::make_unexpected(stored.error());
  return std::optional<UrlRecord>(std::move(stored->record));
}

Result<std::vector<QueuedUrl>> Store::queue_head(const HostKey& host, const Position* after, std::size_t limit) {
  const std::string prefix = bytes_of(host);
  const std::string end = after_prefix(prefix);
  const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::frontier, end);
  cursor->seek(after == nullptr ? prefix : frontier_key(host, *after) + '\0');
  std::vector<QueuedUrl> found;
  for (; cursor->valid() && found.size() < limit; cursor->next()) {
    const std::string_view key = cursor->key();
    const std::string_view value = cursor->value();
    if (key.size() != host_key_bytes + position_bytes + 16 || value.size() < 4)
      return fail(ErrorKind::corrupt, "a row of the frontier has " + std::to_string(key.size()) + " bytes of key");
    const UrlDigest url = digest_at(key, host_key_bytes + position_bytes);
    const std::optional<Position> position = position_at(key, host_key_bytes, url);
    if (!position) return fail(ErrorKind::corrupt, "a row of the frontier has an unknown place");
    const FrontierUrl text = frontier_url(value);
    found.push_back({.key = {host, url},
                     .depth = get_be<std::uint16_t>(value, 0),
                     .visit = text.visit,
                     .score = text.score,
                     .position = *position,
                     .url = std::string(text.url),
                     .steps = get_be<std::uint8_t>(value, 2),
                     .attempts = get_be<std::uint8_t>(value, 3),
                     .off_site = text.off_site});
  }
  if (Result<void> status = noted(cursor->status()); !status) return tl::make_unexpected(status.error());
  return found;
}

// Most hosts have few URLs: stepping over them costs less than a search.
Result<std::optional<HostKey>> QueuedHosts::next(const HostKey* after) {
  std::string from;
  if (after != nullptr) {
    from = after_prefix(bytes_of(*after));
    if (from.empty()) return std::optional<HostKey>();
  }
  if (cursor_ == nullptr) {
    cursor_ = store_->kv_->cursor(Table::frontier, {});
    cursor_->seek(from);
  }
  for (int step = 0; step < rows_stepped_over && cursor_->valid() && cursor_->key() < from; ++step) cursor_->next();
  if (cursor_->valid() && cursor_->key() < from) cursor_->seek(from);
  if (Result<void> status = store_->noted(cursor_->status()); !status) return tl::make_unexpected(status.error());
  if (!cursor_->valid()) return std::optional<HostKey>();
  if (cursor_->key().size() < host_key_bytes) return fail(ErrorKind::corrupt, "a row of the frontier has a short key");
  return std::optional<HostKey>(host_key_at(cursor_->key()));
}

Result<std::optional<HostClock>> Store::clock(const HostKey& host) {
  const Result<std::optional<std::string>> row = get(Table::hosts, bytes_of(host) + clock_row);
  if (!row) return tl::make_unexpected(row.error());
  if (!*row) return std::optional<HostClock>();
  Result<HostClock> clock = noted(decode_clock(**row));
  if (!clock) return tl::make_unexpected(clock.error());
  return std::optional<HostClock>(std::move(*clock));
}

Result<std::optional<RobotsEntry>> Store::robots(const HostKey& host, std::string_view origin) {
  const Result<std::optional<std::string>> row = get(Table::hosts, bytes_of(host) + robots_row + std::string(origin));
  if (!row) return tl::make_unexpected(row.error());
  if (!*row) return std::optional<RobotsEntry>();
  Result<RobotsEntry> robots = noted(decode_stored_robots(**row));
  if (!robots) return tl::make_unexpected(robots.error());
  return std::optional<RobotsEntry>(std::move(*robots));
}

Result<std::optional<SiteCookies>> Store::cookies(const HostKey& site) {
  const Result<std::optional<std::string>> row = get(Table::hosts, bytes_of(site) + cookies_row);
  if (!row) return tl::make_unexpected(row.error());
  if (!*row) return std::optional<SiteCookies>();
  Result<SiteCookies> cookies = noted(decode_stored_cookies(**row));
  if (!cookies) return tl::make_unexpected(cookies.error());
  return std::optional<SiteCookies>(std::move(*cookies));
}

Result<std::optional<SiteUse>> Store::use(const HostKey& site) {
  const Result<std::optional<std::string>> row = get(Table::hosts, bytes_of(site) + use_row);
  if (!row) return tl::make_unexpected(row.error());
  if (!*row) return std::optional<SiteUse>();
  Result<SiteUse> use = noted(decode_stored_use(**row));
  if (!use) return tl::make_unexpected(use.error());
  return std::optional<SiteUse>(std::move(*use));
}

Result<std::vector<OutboxEntry>> Store::outbox_of(std::uint16_t partition, std::uint64_t after_sequence,
                                                  std::size_t limit) {
  std::string prefix;
  put_be(prefix, partition);
  const std::string end = after_prefix(prefix);
  const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::outbox, end);
  cursor->seek(outbox_key({partition, after_sequence + 1}));
  std::vector<OutboxEntry> found;
  for (; cursor->valid() && found.size() < limit; cursor->next()) {
    if (cursor->key().size() != 10) return fail(ErrorKind::corrupt, "a row of the outbox has a key of another size");
    found.push_back({{partition, get_be<std::uint64_t>(cursor->key(), 2)}, std::string(cursor->value())});
  }
  if (Result<void> status = noted(cursor->status()); !status) return tl::make_unexpected(status.error());
  return found;
}

Result<std::vector<Merge>> Store::scan(std::uint16_t partition, const UrlKey* after, std::size_t limit) {
  std::string prefix;
  put_be(prefix, partition);
  const std::string end = after_prefix(prefix);
  const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::urls, end);
  cursor->seek(after == nullptr ? prefix : bytes_of(*after) + '\0');
  std::vector<Merge> found;
  for (; cursor->valid() && found.size() < limit; cursor->next()) {
    if (cursor->key().size() != host_key_bytes + 16)
      return fail(ErrorKind::corrupt, "a row of the table of URLs has a key of another size");
    const UrlKey key{host_key_at(cursor->key()), digest_at(cursor->key(), host_key_bytes)};
    Result<Stored> stored = decode_stored(cursor->value(), key.url);
    if (!stored) return tl::make_unexpected(stored.error());
    if (stored->record.state == UrlState::queued) {
      const Result<std::optional<std::string>> row = get(Table::frontier, frontier_key(key.host, stored->position));
      if (!row) return tl::make_unexpected(row.error());
      if (!*row || (*row)->size() < 4) return fail(ErrorKind::corrupt, "a queued URL has no row in the frontier");
      stored->record.url = frontier_url(**row).url;
    }
    found.push_back({key, std::move(stored->record)});
  }
  if (Result<void> status = noted(cursor->status()); !status) return tl::make_unexpected(status.error());
  return found;
}

Result<std::optional<std::string>> Store::meta(std::string_view name) { return get(Table::meta, name); }

Result<std::vector<std::pair<std::string, std::string>>> Store::meta_rows(const std::string& prefix) {
  const std::string end = after_prefix(prefix);
  const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::meta, end);
  std::vector<std::pair<std::string, std::string>> rows;
  for (cursor->seek(prefix); cursor->valid(); cursor->next())
    rows.emplace_back(cursor->key().substr(prefix.size()), cursor->value());
  if (Result<void> status = noted(cursor->status()); !status) return tl::make_unexpected(status.error());
  return rows;
}

}  // namespace orbweaver::storage
