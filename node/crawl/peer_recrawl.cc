// Pages again (docs/how-to/recrawl.md): a walk over the records queues those that ended before a moment for another
// visit. The moment is the same for all. Each peer walks over all that it has, copies for others too: what it makes of
// a record depends on the record and the moment alone, so that copies stay alike. No partition is handed over before
// its walk.
#include <nlohmann/json.hpp>
#include <utility>

#include "node/crawl/outside_json.h"
#include "node/crawl/peer.h"
#include "node/storage_error.h"
#include "node/url/re2_patterns.h"

namespace orbweaver {

using nlohmann::json;

namespace {

using storage::Reason;
using storage::UrlState;

// Records looked at in one step: some 2 us each, so that the loop goes on.
constexpr std::size_t walk_step = 2048;
constexpr std::uint16_t visit_max = 0xffff;

// What the record is when its URL is asked for once more; nothing when it cannot be. What robots.txt or its port kept
// out is judged again; what else is excluded stays so: it would be again, or is lifted in another way
// (docs/how-to/traps.md).
std::optional<storage::UrlRecord> visited_again(const storage::UrlRecord& known) {
  const bool judged_again = known.state == UrlState::excluded &&
                            (known.reason == Reason::robots || storage::robots_cause(known.reason) != Reason::none ||
                             known.reason == Reason::bad_port);
  const bool ended = known.state == UrlState::fetched || known.state == UrlState::failed || judged_again;
  if (!ended || known.visit == visit_max) return std::nullopt;
  storage::UrlRecord record;
  record.depth = known.depth;
  record.redirects = known.redirects;
  record.off_site = known.off_site;
  record.url = known.url;
  record.visit = static_cast<std::uint16_t>(known.visit + 1);
  record.validator = known.validator;
  record.score = known.score;
  return record;
}

}  // namespace

// On the first visit of a sitemap its dates say nothing new: the pages are fetched now, or were in this crawl.
void Peer::note_lastmod(const Job& job, const PageDone& page, std::size_t entry, Way& way) {
  if (job.job.queued.visit == 0 || entry >= page.lastmods.size()) return;
  way.lastmod = page.lastmods[entry];
  way.visit = way.lastmod == Time{} ? std::uint16_t{0} : job.job.queued.visit;
}

// A sitemap says that the page has changed since it was fetched. A date that is to come is a mistake. The page gets no
// further than the visit of the sitemap that says so: two that list each other would visit one another for ever.
void Peer::visit_if_newer(const storage::UrlKey& key, storage::UrlRecord& record) const {
  const std::uint16_t visit = std::exchange(record.visit, std::uint16_t{0});
  if (record.lastmod == Time{} || record.state != UrlState::queued || record.lastmod > stepped_) return;
  const auto known = store_->find(key);
  if (!known || !*known || (*known)->changed >= record.lastmod || (*known)->visit >= visit) return;
  if (auto again = visited_again(**known)) record = std::move(*again);
}

// As it is kept in the meta table.
std::string Peer::stored(const Recrawl& walk) {
  return json_text({{"before_us", walk.before.time_since_epoch().count()},
                    {"host", walk.host},
                    {"match", walk.match},
                    {"after", walk.after},
                    {"queued", walk.queued}});
}

// What a question and a stored walk have in common.
Result<Peer::Recrawl> Peer::read_recrawl(const json& told, Time now) {
  const auto before = number_field(told, "before_us", now.time_since_epoch().count());
  const auto host = text_field(told, "host");
  const auto match = text_field(told, "match");
  for (const auto* field : {&host, &match})
    if (!*field) return tl::make_unexpected(field->error());
  if (!before) return tl::make_unexpected(before.error());
  Recrawl walk;
  walk.before = Time(Duration(*before));
  walk.host = *host;
  walk.match = *match;
  if (walk.match.empty()) return walk;
  auto compiled = UrlPatterns::compile({walk.match});
  if (!compiled) return tl::make_unexpected(compiled.error());
  walk.pattern = std::make_shared<const UrlPatterns>(std::move(*compiled));
  return walk;
}

// {"before_us": n, "host": h, "match": RE2}: begins a walk, in place of one under way that is another.
json Peer::recrawl(Time now, const json& body, Commands& out) {
  if (!has_ring_ || stopping_ || exit_at_ || waves_.end())
    return {{"error", "this peer is stopping, or has not joined its ring yet"}};
  Result<Recrawl> walk = read_recrawl(body, now);
  if (!walk) return {{"error", walk.error().message}};
  json begun = {{"id", id().hex()}, {"address", membership_.self().address}, {"walks", true}};
  if (walk->before == std::exchange(last_walk_, walk->before)) return begun;
  recrawl_ = std::move(*walk);
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::recrawl, stored(*recrawl_));
  if (std::exchange(ended_, std::nullopt)) commit.meta.emplace_back(meta_name::ended, "");
  if (!apply(now, commit, out) || !recrawl_tick(now, out)) return {{"error", "the store cannot be written"}};
  return begun;
}

Result<void> Peer::restore_recrawl(const std::string& stored) {
  const Result<json> read = parse_outside_json(stored);
  if (!read) return tl::make_unexpected(read.error());
  Result<Recrawl> walk = read_recrawl(*read, Time{});
  const auto after = text_field(*read, "after");
  const auto queued = number_field(*read, "queued", 0, 0);
  if (!walk) return tl::make_unexpected(walk.error());
  if (!after) return tl::make_unexpected(after.error());
  if (!queued) return tl::make_unexpected(queued.error());
  walk->after = *after;
  walk->queued = static_cast<std::uint64_t>(*queued);
  last_walk_ = walk->before;
  recrawl_ = std::move(*walk);
  return {};
}

// What it queues must have its copies like any write: it waits until this peer knows its place, and for room. Fetches
// and other peers' batches go on in between.
bool Peer::may_walk() const { return recrawl_ && confirmed_ && !stopping_ && !copier_.items_full(); }

// Whether a walk has still to pass this partition.
bool Peer::walk_awaits(ring::Partition partition) {
  if (!recrawl_) return false;
  const Result<CanonicalUrl> url = canonicaliser_.parse(recrawl_->after);
  return !url || partition >= partitioner_.host_key(*url).partition;
}

// One step of the walk: what it queues and how far it came are one write. False: the store failed.
bool Peer::recrawl_tick(Time now, Commands& out) {
  if (!may_walk()) return true;
  Recrawl& walk = *recrawl_;
  std::optional<storage::UrlKey> cursor;
  if (!walk.after.empty()) {
    const Result<CanonicalUrl> url = canonicaliser_.parse(walk.after);
    if (url) cursor = storage::UrlKey{partitioner_.host_key(*url), url->digest()};
  }
  storage::Commit commit;
  std::size_t seen = 0;
  bool ended = true;
  for (const std::uint16_t partition : store_->partitions()) {
    if (cursor && partition < cursor->host.partition) continue;
    const bool here = cursor && partition == cursor->host.partition;
    const auto records = store_->scan(partition, here ? &*cursor : nullptr, walk_step - seen);
    if (!records) {
      fail_for_good(error_of(records.error()), out);
      return false;
    }
    for (const storage::Merge& at : *records) {
      if (at.record.changed >= walk.before) continue;
      if (!walk.host.empty() && host_of(at.record.url) != walk.host) continue;
      if (walk.pattern != nullptr && walk.pattern->first_match(at.record.url) == nullptr) continue;
      if (auto again = visited_again(at.record)) commit.merges.push_back({at.key, std::move(*again)});
    }
    seen += records->size();
    if (!records->empty()) walk.after = records->back().record.url;
    if (seen >= walk_step) {
      ended = false;
      break;
    }
  }
  walk.queued += commit.merges.size();
  commit.meta.emplace_back(meta_name::recrawl, ended ? std::string() : stored(walk));
  if (ended) {
    note(out, LogLevel::info, "crawl", "queued again", {{"records", std::to_string(walk.queued)}});
    recrawl_.reset();
  }
  return apply(now, commit, out);
}

}  // namespace orbweaver
