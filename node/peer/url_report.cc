#include "node/peer/url_report.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "node/crawl/peer_words.h"
#include "node/crawl/record_filter.h"
#include "node/peer/reason_words.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

using nlohmann::json;
using storage::UrlState;

namespace {

// Records that one question looks at: about 1 us each.
constexpr std::size_t max_records = 16'384;
// Values of one answer, which its reader bounds (max_json_values); an entry has up to 14.
constexpr std::size_t max_entries = 4096;
// An entry's bytes beside its URL and host, about.
constexpr std::size_t entry_bytes = 400;

}  // namespace

json url_entry(const storage::UrlRecord& record) {
  json entry = {{"url", record.url},
                {"host", CanonicalUrl::host_in(record.url)},
                {"state", storage::state_name(record.state)},
                {"depth", record.depth}};
  if (record.reason != storage::Reason::none) {
    const ReasonWords words = words_of(record.reason, record.status);
    entry["reason"] = storage::reason_name(record.reason);
    entry["why"] = words.what;
    if (!words.fix.empty()) entry["fix"] = words.fix;
  }
  if (record.status != 0) entry["status"] = record.status;
  if (record.attempts > 0) entry["attempts"] = record.attempts;
  if (record.visit > 0) entry["visit"] = record.visit + 1;
  if (record.since != Time{}) entry["when"] = utc(record.since);
  if (record.not_before != Time{}) entry["not_before"] = utc(record.not_before);
  return entry;
}

json UrlReport::answer(const std::string& self, const json& question, std::size_t room) const {
  const Result<RecordFilter> filter = RecordFilter::read(question);
  if (!filter) return {{"error", filter.error().message}};
  const auto begin = scan_.begin(question, self);
  if (!begin) return {{"error", begin.error().message}};
  const auto wanted = [&](const storage::Counts& counts) {
    return (filter->takes_state(UrlState::queued) && counts.queued > 0) ||
           (filter->takes_state(UrlState::fetched) && counts.fetched > 0) ||
           (filter->takes_state(UrlState::failed) && counts.failed > 0) ||
           (filter->takes_state(UrlState::excluded) && counts.excluded > 0);
  };
  json urls = json::array();
  std::size_t looked_at = 0, bytes = 0;
  const auto last = scan_.walk(*begin, max_records, wanted, [&](const storage::Merge& at) -> Result<bool> {
    ++looked_at;
    if (!filter->takes(at.record)) return true;
    bytes += entry_bytes + 2 * at.record.url.size();
    urls.push_back(url_entry(at.record));
    return bytes < room && urls.size() < max_entries;
  });
  if (!last) return {{"error", last.error().message}};
  return {{"urls", std::move(urls)}, {"looked_at", looked_at}, {"last", *last}};
}

}  // namespace orbweaver
