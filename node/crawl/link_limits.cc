#include "node/crawl/link_limits.h"

#include <algorithm>

namespace orbweaver {

using storage::Reason;
using storage::UrlState;

std::uint32_t max_steps(const Settings& settings) {
  return std::max(settings.max_redirects, settings.page_requisites ? 1U : 0U);
}

void limit_link(storage::UrlRecord& record, const Settings& settings, Time date) {
  if (record.state != UrlState::queued) return;
  Reason reason = Reason::none;
  if (settings.max_depth > 0 && record.depth > settings.max_depth) reason = Reason::depth;
  if (record.steps > max_steps(settings)) reason = Reason::redirects;
  if (reason == Reason::none) return;
  record.state = UrlState::excluded;
  record.reason = reason;
  record.since = date;
  record.not_before = Time{};
}

}  // namespace orbweaver
