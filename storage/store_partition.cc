// The store's functions for whole partitions: their counts and digests, hosts, and how they are dropped.
#include "storage/store.h"
#include "storage/store_rows.h"

namespace orbweaver::storage {

std::uint64_t& Store::Tally::of(UrlState state) {
  switch (state) {
    case UrlState::queued:
      return queued;
    case UrlState::excluded:
      return excluded;
    case UrlState::failed:
      return failed;
    case UrlState::fetched:
      break;
  }
  return fetched;
}

void Store::Tally::add_to(Counts& counts, bool add) const {
  const auto change = [add](std::uint64_t& sum, std::uint64_t by) { add ? sum += by : sum -= by; };
  change(counts.queued, queued);
  change(counts.fetched, fetched);
  change(counts.failed, failed);
  change(counts.excluded, excluded);
}

// The tally that a write is about to change: a copy of the current one.
Store::Tally& Store::tally_of(Tallies& changed, std::uint16_t partition) const {
  const auto [at, added] = changed.try_emplace(partition);
  if (added)
    if (const auto known = tallies_.find(partition); known != tallies_.end()) at->second = known->second;
  return at->second;
}

void Store::stage(const Tallies& changed, KvBatch& batch) const {
  for (const auto& [partition, tally] : changed) {
    if (tally.empty()) {
      batch.remove(Table::meta, tally_name(partition));
      continue;
    }
    std::string row;
    for (const std::uint64_t value :
         {tally.queued, tally.fetched, tally.failed, tally.excluded, tally.root, tally.records})
      put_be(row, value);
    batch.put(Table::meta, tally_name(partition), row);
  }
}

// The write is done: takes the new sums.
void Store::take_over(const Tallies& changed) {
  for (const auto& [partition, tally] : changed) {
    Tally& known = tallies_[partition];
    known.add_to(counts_, false);
    if (known.held) known.add_to(held_, false);
    if (known.held) held_records_ -= known.records;
    known = tally;
    known.add_to(counts_, true);
    if (known.held) known.add_to(held_, true);
    if (known.held) held_records_ += known.records;
    if (known.empty() && !known.held) tallies_.erase(partition);
  }
}

void Store::hold(std::uint16_t partition, bool held) {
  const auto found = tallies_.find(partition);
  if (found == tallies_.end() ? !held : found->second.held == held) return;
  Tally& tally = tallies_[partition];
  tally.held = held;
  tally.add_to(held_, held);
  held ? held_records_ += tally.records : held_records_ -= tally.records;
  if (!held && tally.empty()) tallies_.erase(partition);
}

Counts Store::counts(std::uint16_t partition) const {
  Counts counts;
  if (const auto found = tallies_.find(partition); found != tallies_.end()) found->second.add_to(counts, true);
  return counts;
}

std::uint64_t Store::root(std::uint16_t partition) const {
  const auto found = tallies_.find(partition);
  return found == tallies_.end() ? 0 : found->second.root;
}

Result<Leaves> Store::leaves(std::uint16_t partition) {
  std::string prefix;
  put_be(prefix, partition);
  const std::string end = after_prefix(prefix);
  const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::urls, end);
  Leaves leaves{};
  for (cursor->seek(prefix); cursor->valid(); cursor->next()) {
    if (cursor->key().size() != host_key_bytes + 16)
      return fail(ErrorKind::corrupt, "a row of the table of URLs has a key of another size");
    const UrlDigest url = digest_at(cursor->key(), host_key_bytes);
    const Result<Stored> stored = decode_stored(cursor->value(), url);
    if (!stored) return tl::make_unexpected(stored.error());
    leaves[leaf_of(url)] += record_digest(url, stored->record);
  }
  if (Result<void> status = noted(cursor->status()); !status) return tl::make_unexpected(status.error());
  return leaves;
}

Result<std::vector<HostRow>> Store::hosts_of(std::uint16_t partition, const std::string& after, std::size_t limit) {
  std::string prefix;
  put_be(prefix, partition);
  const std::string end = after_prefix(prefix);
  const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::hosts, end);
  std::vector<HostRow> found;
  for (cursor->seek(after.empty() ? prefix : after + '\0'); cursor->valid() && found.size() < limit; cursor->next()) {
    if (cursor->key().size() <= host_key_bytes)
      return fail(ErrorKind::corrupt, "a row of the table of hosts has a short key");
    HostRow row{host_key_at(cursor->key()), {}, {}, {}, {}, {}, std::string(cursor->key())};
    if (cursor->key()[host_key_bytes] == clock_row) {
      Result<HostClock> clock = decode_clock(cursor->value());
      if (!clock) return tl::make_unexpected(clock.error());
      row.clock = std::move(*clock);
    } else if (cursor->key()[host_key_bytes] == cookies_row) {
      Result<SiteCookies> cookies = decode_stored_cookies(cursor->value());
      if (!cookies) return tl::make_unexpected(cookies.error());
      row.cookies = std::move(*cookies);
    } else if (cursor->key()[host_key_bytes] == use_row) {
      Result<SiteUse> use = decode_stored_use(cursor->value());
      if (!use) return tl::make_unexpected(use.error());
      row.use = std::move(*use);
    } else {
      Result<RobotsEntry> robots = decode_stored_robots(cursor->value());
      if (!robots) return tl::make_unexpected(robots.error());
      row.origin = cursor->key().substr(host_key_bytes + 1);
      row.robots = std::move(*robots);
    }
    found.push_back(std::move(row));
  }
  if (Result<void> status = noted(cursor->status()); !status) return tl::make_unexpected(status.error());
  return found;
}

Result<bool> Store::drop(std::uint16_t partition, std::size_t limit) {
  if (sets_ != nullptr) sets_->forget(partition);  // before the rows that they represent
  dropped_at_ = next_order_;
  std::string prefix;
  put_be(prefix, partition);
  const std::string end = after_prefix(prefix);
  KvBatch batch;
  Tallies tallies;
  Tally& tally = tally_of(tallies, partition);
  std::size_t records = 0;
  {
    const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::urls, end);
    for (cursor->seek(prefix); cursor->valid() && records < limit; cursor->next(), ++records) {
      if (cursor->key().size() != host_key_bytes + 16)
        return fail(ErrorKind::corrupt, "a row of the table of URLs has a key of another size");
      const UrlKey key{host_key_at(cursor->key()), digest_at(cursor->key(), host_key_bytes)};
      const Result<Stored> stored = decode_stored(cursor->value(), key.url);
      if (!stored) return tl::make_unexpected(stored.error());
      --tally.of(stored->record.state);
      --tally.records;
      tally.root -= record_digest(key.url, stored->record);
      if (stored->record.state == UrlState::queued)
        batch.remove(Table::frontier, frontier_key(key.host, stored->position));
      batch.remove(Table::urls, cursor->key());
    }
    if (Result<void> status = noted(cursor->status()); !status) return tl::make_unexpected(status.error());
  }
  std::size_t hosts = 0;
  if (records < limit) {
    const std::unique_ptr<KvCursor> cursor = kv_->cursor(Table::hosts, end);
    for (cursor->seek(prefix); cursor->valid() && hosts < limit; cursor->next(), ++hosts)
      batch.remove(Table::hosts, cursor->key());
    if (Result<void> status = noted(cursor->status()); !status) return tl::make_unexpected(status.error());
  }
  if (batch.size() == 0) return true;
  stage(tallies, batch);
  if (failure_) return tl::make_unexpected(*failure_);
  if (Result<void> written = kv_->write(batch); !written) return tl::make_unexpected(written.error());
  take_over(tallies);
  return records < limit && hosts < limit;
}

std::vector<std::uint16_t> Store::partitions() const {
  std::vector<std::uint16_t> found;
  for (const auto& [partition, tally] : tallies_)
    if (!tally.empty()) found.push_back(partition);
  return found;
}

}  // namespace orbweaver::storage
