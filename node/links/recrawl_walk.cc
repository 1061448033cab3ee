#include "node/links/recrawl_walk.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "node/crawl/meta_names.h"
#include "node/crawl/outside_json.h"
#include "node/errors/storage_error.h"
#include "node/frontier/workbench.h"
#include "node/try.h"

namespace orbweaver {

using nlohmann::json;

namespace {

using storage::Reason;
using storage::UrlState;

// Records looked at in one step: about 2 us each, so that the loop is not blocked.
constexpr std::size_t walk_step = 2048;
constexpr std::uint16_t max_visit = 0xffff;

}  // namespace

std::optional<storage::UrlRecord> visited_again(const storage::UrlRecord& known) {
  const bool judged_again = known.state == UrlState::excluded &&
                            (known.reason == Reason::robots || storage::robots_cause(known.reason) != Reason::none ||
                             known.reason == Reason::bad_port);
  const bool ended = known.state == UrlState::fetched || known.state == UrlState::failed || judged_again;
  if (!ended || known.visit == max_visit) return std::nullopt;
  storage::UrlRecord record;
  record.depth = known.depth;
  record.steps = known.steps;
  record.off_site = known.off_site;
  record.url = known.url;
  record.visit = static_cast<std::uint16_t>(known.visit + 1);
  record.validator = known.validator;
  record.score = known.score;
  return record;
}

Result<RecrawlWalk::Wanted> RecrawlWalk::read(const json& given, Time now) {
  const auto before = number_field(given, "before_us", now.time_since_epoch().count());
  const auto host = text_field(given, "host");
  const auto match = text_field(given, "match");
  for (const auto* field : {&host, &match})
    if (!*field) return tl::make_unexpected(field->error());
  if (!before) return tl::make_unexpected(before.error());
  Wanted wanted{.before = Time(Duration(*before)), .host = *host, .match = *match};
  if (wanted.match.empty()) return wanted;
  auto compiled = UrlPatterns::compile({wanted.match});
  if (!compiled) return tl::make_unexpected(compiled.error());
  wanted.pattern = std::make_shared<const UrlPatterns>(std::move(*compiled));
  return wanted;
}

std::string RecrawlWalk::row_of(const Wanted& wanted, const std::string& after, std::uint64_t queued) {
  return json_text({{"before_us", wanted.before.time_since_epoch().count()},
                    {"host", wanted.host},
                    {"match", wanted.match},
                    {"after", after},
                    {"queued", queued}});
}

Result<void> RecrawlWalk::restore(const std::string& row) {
  const Result<json> stored = parse_outside_json(row);
  if (!stored) return tl::make_unexpected(stored.error());
  Result<Wanted> wanted = read(*stored, Time{});
  const auto after = text_field(*stored, "after");
  const auto queued = number_field(*stored, "queued", 0, 0);
  if (!wanted) return tl::make_unexpected(wanted.error());
  if (!after) return tl::make_unexpected(after.error());
  if (!queued) return tl::make_unexpected(queued.error());
  last_ = wanted->before;
  walk_ = Walk{std::move(*wanted), *after, static_cast<std::uint64_t>(*queued)};
  return {};
}

void RecrawlWalk::begin(Wanted wanted, storage::Commit& commit) {
  Walk walk{std::move(wanted), {}, 0};
  commit.meta.emplace_back(meta_name::recrawl, row_of(walk.wanted));
  last_ = walk.wanted.before;
  walk_ = std::move(walk);
}

std::optional<storage::UrlKey> RecrawlWalk::place_of(const Walk& walk) const {
  if (walk.after.empty()) return std::nullopt;
  const Result<CanonicalUrl> url = canonicaliser_->parse(walk.after);
  if (!url) return std::nullopt;
  return storage::UrlKey{partitioner_->host_key(*url), url->digest()};
}

bool RecrawlWalk::awaits(ring::Partition partition) const {
  if (!walk_) return false;
  const auto place = place_of(*walk_);
  return !place || partition >= place->host.partition;
}

bool RecrawlWalk::is_wanted(const Wanted& wanted, const storage::UrlRecord& record) {
  if (record.since >= wanted.before) return false;
  if (!wanted.host.empty() && CanonicalUrl::host_in(record.url) != wanted.host) return false;
  return wanted.pattern == nullptr || wanted.pattern->first_match(record.url) != nullptr;
}

Result<void> RecrawlWalk::walk_on(const Step& step) {
  if (!walk_) return {};
  const std::optional<storage::UrlKey> cursor = place_of(*walk_);
  Walk next = *walk_;
  storage::Commit commit;
  std::size_t seen = 0;
  for (const std::uint16_t partition : store_->partitions()) {
    if (seen >= walk_step) break;
    if (cursor && partition < cursor->host.partition) continue;
    const bool here = cursor && partition == cursor->host.partition;
    const auto records = store_->scan(partition, here ? &*cursor : nullptr, walk_step - seen);
    if (!records) return tl::make_unexpected(error_of(records.error()));
    for (const storage::Merge& at : *records)
      if (is_wanted(next.wanted, at.record))
        if (auto again = visited_again(at.record)) commit.merges.push_back({at.key, std::move(*again)});
    seen += records->size();
    if (!records->empty()) next.after = records->back().record.url;
  }
  const bool ended = seen < walk_step;
  next.queued += commit.merges.size();
  commit.meta.emplace_back(meta_name::recrawl, ended ? std::string() : row_of(next.wanted, next.after, next.queued));
  if (ended) step.log(LogLevel::info, "crawl", "queued again", {{"records", std::to_string(next.queued)}});
  ORBWEAVER_TRY(writer_->commit(step, commit));
  walk_ = ended ? std::nullopt : std::optional(std::move(next));
  return {};
}

// A date in the future is a mistake. The page's visit gets no higher than that of the sitemap: two sitemaps that list
// each other would be visited forever.
void RecrawlWalk::visit_if_newer(const storage::UrlKey& key, storage::UrlRecord& record) const {
  const std::uint16_t sitemap_visit = std::exchange(record.sitemap_visit, std::uint16_t{0});
  if (record.lastmod == Time{} || record.state != UrlState::queued || record.lastmod > *stepped_) return;
  const auto known = store_->find(key);
  if (!known || !*known || (*known)->since >= record.lastmod || (*known)->visit >= sitemap_visit) return;
  if (auto again = visited_again(**known)) record = std::move(*again);
}

}  // namespace orbweaver
