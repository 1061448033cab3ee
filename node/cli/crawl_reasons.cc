#include "node/cli/crawl_reasons.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "node/cli/contact_check.h"
#include "node/cli/export_command.h"
#include "node/peer/reason_words.h"
#include "node/scope/scope.h"
#include "node/url/canonical_url.h"

namespace orbweaver {
namespace {

using storage::Reason;
using storage::UrlState;

bool has_status(Reason reason) { return reason == Reason::http_status || reason == Reason::robots_unreachable; }

}  // namespace

Result<std::vector<CrawlReason>> crawl_reasons(const std::string& directory) {
  std::map<std::tuple<UrlState, Reason, std::uint16_t>, CrawlReason> found;
  const auto take = [&](const storage::UrlRecord& record) {
    if (record.state != UrlState::failed && record.state != UrlState::excluded) return true;
    const std::uint16_t status = has_status(record.reason) ? record.status : std::uint16_t{0};
    CrawlReason& entry = found[{record.state, record.reason, status}];
    if (entry.count++ == 0)
      entry = {.state = record.state, .reason = record.reason, .status = status, .count = 1, .example = record.url};
    return true;
  };
  if (Result<void> read = for_each_record(directory, take); !read) return tl::make_unexpected(read.error());
  std::vector<CrawlReason> reasons;
  reasons.reserve(found.size());
  for (auto& [key, entry] : found) reasons.push_back(std::move(entry));
  std::stable_sort(reasons.begin(), reasons.end(), [](const CrawlReason& a, const CrawlReason& b) {
    return std::pair(a.state != UrlState::failed, b.count) < std::pair(b.state != UrlState::failed, a.count);
  });
  return reasons;
}

std::string reason_words(const CrawlReason& reason) { return words_of(reason.reason, reason.status).what; }

std::string reason_fix(const CrawlReason& reason, const Settings& settings) {
  std::string range;
  if (reason.reason == Reason::address_refused)
    if (const Result<CanonicalUrl> url = CanonicalUrl::of_stored(reason.example)) range = private_range(*url, settings);
  return range.empty() ? words_of(reason.reason, reason.status).fix : "allow with --allow-private " + range;
}

Result<bool> only_redirects(const std::string& directory) {
  bool page = false;
  const auto take = [&](const storage::UrlRecord& record) {
    const bool redirect = record.status >= 300 && record.status < 400 && record.status != 304;
    page = record.state == UrlState::fetched && !redirect;
    return !page;
  };
  if (Result<void> read = for_each_record(directory, take); !read) return tl::make_unexpected(read.error());
  return !page;
}

nlohmann::json with_fixes(nlohmann::json redirects_out, const Settings& settings) {
  Settings of_domain = settings;
  of_domain.scope = ScopeKind::domain;
  for (nlohmann::json& redirect : redirects_out) {
    const Result<CanonicalUrl> seed = CanonicalUrl::parse(redirect.value("url", ""));
    const Result<CanonicalUrl> target = CanonicalUrl::parse(redirect.value("to", ""));
    const bool of_same = seed && target && Scope(of_domain, {*seed}).contains(*target);
    redirect["fix"] = of_same ? "start there, or --scope domain" : "start there";
  }
  return redirects_out;
}

nlohmann::json reasons_json(const std::vector<CrawlReason>& reasons, const Settings& settings) {
  nlohmann::json list = nlohmann::json::array();
  for (const CrawlReason& reason : reasons) {
    nlohmann::json entry = {{"state", storage::state_name(reason.state)},
                            {"reason", storage::reason_name(reason.reason)},
                            {"count", reason.count},
                            {"example", reason.example},
                            {"why", reason_words(reason)}};
    if (reason.status != 0) entry["status"] = reason.status;
    if (const std::string fix = reason_fix(reason, settings); !fix.empty()) entry["fix"] = fix;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace orbweaver
