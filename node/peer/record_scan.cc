#include "node/peer/record_scan.h"

#include <nlohmann/json.hpp>

#include "node/crawl/outside_json.h"
#include "node/errors/storage_error.h"

namespace orbweaver {

namespace {

// Records that are read at a time.
constexpr std::size_t scan_step = 1024;

}  // namespace

Result<RecordScan::Begin> RecordScan::begin(const nlohmann::json& question, const std::string& self) const {
  const auto after = question.find("after");
  if (after == question.end() || !after->is_object()) return Begin{};
  const Result<std::string> text = text_field(*after, self);
  if (!text) return tl::make_unexpected(text.error());
  const Result<CanonicalUrl> url = CanonicalUrl::parse(*text);
  if (!url) return Begin{.nothing = true};
  return Begin{.after = storage::UrlKey{partitioner_->host_key(*url), url->digest()}};
}

Result<std::string> RecordScan::walk(const Begin& begin, std::size_t max_records,
                                     const std::function<bool(const storage::Counts&)>& wanted,
                                     const Take& take) const {
  if (begin.nothing) return std::string();
  std::size_t seen = 0;
  for (const std::uint16_t partition : store_->partitions()) {
    if (begin.after && partition < begin.after->host.partition) continue;
    if (!partition_manager_->holds(partition) || !wanted(store_->counts(partition))) continue;
    std::optional<storage::UrlKey> cursor;
    if (begin.after && partition == begin.after->host.partition) cursor = begin.after;
    for (bool more = true; more;) {
      const auto records = store_->scan(partition, cursor ? &*cursor : nullptr, scan_step);
      if (!records) return tl::make_unexpected(error_of(records.error()));
      for (const storage::Merge& at : *records) {
        const Result<bool> goes_on = take(at);
        if (!goes_on) return tl::make_unexpected(goes_on.error());
        if (!*goes_on) return at.record.url;
      }
      seen += records->size();
      more = records->size() == scan_step;
      if (more) cursor = records->back().key;
      if (seen >= max_records && !records->empty()) return records->back().record.url;
    }
  }
  return std::string();
}

}  // namespace orbweaver
