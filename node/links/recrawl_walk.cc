#include "node/links/recrawl_walk.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "node/crawl/meta_names.h"
#include "node/crawl/outside_json.h"
#include "node/errors/storage_error.h"
#include "node/try.h"
#include "ring/md5.h"

namespace orbweaver {

using nlohmann::json;

namespace {

using storage::Reason;
using storage::UrlState;

constexpr std::uint16_t max_visit = 0xffff;

// Excluded URLs that a visit judges by what others say, or by settings that the user has changed for it.
bool is_judged_again(Reason reason, bool all) {
  if (reason == Reason::robots || storage::robots_cause(reason) != Reason::none || reason == Reason::bad_port ||
      reason == Reason::operator_block)
    return true;
  return all && reason != Reason::trap && reason != Reason::depth;
}

}  // namespace

std::optional<storage::UrlRecord> visited_again(const storage::UrlRecord& known, bool excluded) {
  const bool judged_again = known.state == UrlState::excluded && is_judged_again(known.reason, excluded);
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
  if (!before) return tl::make_unexpected(before.error());
  auto filter = RecordFilter::read(given);
  if (!filter) return tl::make_unexpected(filter.error());
  return Wanted{Time(Duration(*before)), std::move(*filter)};
}

OperatorOrder RecrawlWalk::order_of(const Wanted& wanted, const OperatorOrders& known, const ring::PeerId& peer,
                                    Time now) {
  json value = {{"before_us", wanted.before.time_since_epoch().count()}};
  wanted.filter.write(value);
  OperatorOrder order;
  order.value = json_text(value);
  order.name = "visit " + ring::to_hex(ring::md5(order.value));
  order.number = known.next_number();
  order.peer = peer;
  order.given = now;
  return order;
}

Result<RecrawlWalk::Wanted> RecrawlWalk::read_order(const OperatorOrder& order) {
  const Result<json> value = parse_outside_json(order.value);
  if (!value) return tl::make_unexpected(value.error());
  return read(*value, Time{});
}

// The walk in progress, and under "next" those that wait.
std::string RecrawlWalk::row_of_all(const Walks& walks) {
  if (walks.empty()) return {};
  const auto order = [](const Walk& walk) {
    json text = {{"before_us", walk.wanted.before.time_since_epoch().count()}};
    walk.wanted.filter.write(text);
    return text;
  };
  json row = order(walks.front());
  row["after"] = walks.front().after;
  row["queued"] = walks.front().queued;
  for (std::size_t i = 1; i < walks.size(); ++i) row["next"].push_back(order(walks[i]));
  return json_text(row);
}

Result<RecrawlWalk::Walks> RecrawlWalk::read_row(const std::string& row) {
  const Result<json> stored = parse_outside_json(row);
  if (!stored) return tl::make_unexpected(stored.error());
  const auto after = text_field(*stored, "after");
  const auto queued = number_field(*stored, "queued", 0, 0);
  if (!after) return tl::make_unexpected(after.error());
  if (!queued) return tl::make_unexpected(queued.error());
  std::vector<json> orders{*stored};
  if (stored->contains("next")) orders.insert(orders.end(), stored->at("next").begin(), stored->at("next").end());
  Walks walks;
  for (const json& order : orders) {
    Result<Wanted> wanted = read(order, Time{});
    if (!wanted) return tl::make_unexpected(wanted.error());
    walks.push_back({std::move(*wanted), {}, 0});
  }
  walks.front().after = *after;
  walks.front().queued = static_cast<std::uint64_t>(*queued);
  return walks;
}

Result<std::string> RecrawlWalk::row_with(const std::string& row, const Wanted& wanted) {
  Walks walks;
  if (!row.empty()) {
    auto read = read_row(row);
    if (!read) return tl::make_unexpected(read.error());
    walks = std::move(*read);
  }
  if (walks.size() >= max_walks) return fail(ErrorCode::invalid_input, std::string(full_words));
  walks.push_back({wanted, {}, 0});
  return row_of_all(walks);
}

Result<void> RecrawlWalk::restore(const std::string& row) {
  Result<Walks> walks = read_row(row);
  if (!walks) return tl::make_unexpected(walks.error());
  walks_ = std::move(*walks);
  return {};
}

void RecrawlWalk::begin(Wanted wanted, storage::Commit& commit) {
  if (walks_.size() >= 2 * max_walks) walks_.erase(walks_.begin() + 1);
  walks_.push_back({std::move(wanted), {}, 0});
  commit.meta.emplace_back(meta_name::recrawl, row_of_all(walks_));
}

std::optional<storage::UrlKey> RecrawlWalk::place_of(const Walk& walk) const {
  if (walk.after.empty()) return std::nullopt;
  const Result<CanonicalUrl> url = canonicaliser_->parse(walk.after);
  if (!url) return std::nullopt;
  return storage::UrlKey{partitioner_->host_key(*url), url->digest()};
}

bool RecrawlWalk::awaits(ring::Partition partition) const {
  if (walks_.empty()) return false;
  const auto place = place_of(walks_.front());
  return walks_.size() > 1 || !place || partition >= place->host.partition;
}

Result<void> RecrawlWalk::walk_on(const Step& step) {
  if (walks_.empty()) return {};
  const std::optional<storage::UrlKey> cursor = place_of(walks_.front());
  Walks walks = walks_;
  Walk& next = walks.front();
  const RecordFilter& filter = next.wanted.filter;
  const bool excluded = !filter.states.empty() && filter.takes_state(UrlState::excluded);
  storage::Commit commit;
  std::size_t seen = 0;
  for (const std::uint16_t partition : store_->partitions()) {
    if (seen >= walk_records_) break;
    if (cursor && partition < cursor->host.partition) continue;
    const bool here = cursor && partition == cursor->host.partition;
    const auto records = store_->scan(partition, here ? &*cursor : nullptr, walk_records_ - seen);
    if (!records) return tl::make_unexpected(error_of(records.error()));
    for (const storage::Merge& at : *records)
      if (at.record.since < next.wanted.before && filter.takes(at.record))
        if (auto again = visited_again(at.record, excluded)) commit.merges.push_back({at.key, std::move(*again)});
    seen += records->size();
    if (!records->empty()) next.after = records->back().record.url;
  }
  const bool ended = seen < walk_records_;
  next.queued += commit.merges.size();
  if (ended) step.log(LogLevel::info, "crawl", "queued again", {{"records", std::to_string(next.queued)}});
  if (ended) walks.pop_front();
  commit.meta.emplace_back(meta_name::recrawl, row_of_all(walks));
  ORBWEAVER_TRY(writer_->commit(step, commit));
  walks_ = std::move(walks);
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
