#include "node/cli/crawl_reasons.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "node/cli/contact_check.h"
#include "node/cli/export_command.h"
#include "node/config/site_header.h"

namespace orbweaver {
namespace {

using storage::Reason;
using storage::UrlState;

bool no_contact(const Settings& settings) { return !names_contact(settings.user_agent, settings.contact); }

}  // namespace

Result<std::vector<CrawlReason>> crawl_reasons(const std::string& directory) {
  std::map<std::tuple<UrlState, Reason, std::uint16_t>, CrawlReason> found;
  const auto take = [&](const storage::UrlRecord& record) {
    if (record.state != UrlState::failed && record.state != UrlState::excluded) return true;
    const std::uint16_t status = record.reason == Reason::http_status ? record.status : std::uint16_t{0};
    CrawlReason& entry = found[{record.state, record.reason, status}];
    if (entry.count++ == 0)
      entry = {.state = record.state, .reason = record.reason, .status = status, .count = 1, .example = record.url};
    return true;
  };
  if (Result<void> read = for_each_record(directory, take); !read) return tl::make_unexpected(read.error());
  std::vector<CrawlReason> reasons;
  for (auto& [key, entry] : found) reasons.push_back(std::move(entry));
  std::stable_sort(reasons.begin(), reasons.end(), [](const CrawlReason& a, const CrawlReason& b) {
    return std::pair(a.state != UrlState::failed, b.count) < std::pair(b.state != UrlState::failed, a.count);
  });
  return reasons;
}

std::string reason_words(const CrawlReason& reason, const Settings& settings) {
  switch (reason.reason) {
    case Reason::http_status:
      return "the server answered " + std::to_string(reason.status);
    case Reason::address_refused:
      if (private_range(reason.example, settings).empty() && no_contact(settings)) return "refused: no contact is set";
      return "refused: private address";
    case Reason::dns:
      return "the host's name does not resolve";
    case Reason::connect:
      return "the host does not take connections";
    case Reason::timeout:
      return "the server was too slow";
    case Reason::host_down:
      return "the host did not answer ten times in a row";
    case Reason::robots:
      return "robots.txt disallows it";
    case Reason::robots_unreachable:
      return "the host's robots.txt could not be fetched, which counts as a disallow";
    case Reason::depth:
      return "deeper than max_depth";
    case Reason::redirects:
      return "too many redirects in a row";
    case Reason::trap:
      return "looks like a trap";
    case Reason::budget:
      return "the budget of its host or domain is spent";
    case Reason::content_type:
      return "its content type is not wanted";
    default:
      return std::string(storage::reason_name(reason.reason));
  }
}

std::string reason_fix(const CrawlReason& reason, const Settings& settings) {
  switch (reason.reason) {
    case Reason::address_refused: {
      const std::string range = private_range(reason.example, settings);
      if (range.empty() && no_contact(settings)) return "name one with --contact https://example.org/bot";
      return "allow with --allow-private " + (range.empty() ? "RANGE" : range);
    }
    case Reason::connect:
      return "is the address right, and does the server run?";
    case Reason::timeout:
      return "see fetch_timeout, low_speed_bytes and average_speed_bytes";
    case Reason::robots_unreachable:
      return "does the host answer? for your own sites: --robots no";
    case Reason::robots:
      return "for your own sites: --robots no";
    case Reason::depth:
      return "raise --max-depth";
    case Reason::trap:
      return "look with: orbweaver traps; queue again with: orbweaver traps --readmit";
    case Reason::budget:
      return "see max_pages_per_host and its like";
    case Reason::content_type:
      return "see content_types_allow and content_types_deny";
    case Reason::tls_expired:
    case Reason::tls_wrong_name:
    case Reason::tls_self_signed:
    case Reason::tls_untrusted:
      return "fetch all the same with --tls-verify record";
    default:
      return {};
  }
}

nlohmann::json reasons_json(const std::vector<CrawlReason>& reasons, const Settings& settings) {
  nlohmann::json list = nlohmann::json::array();
  for (const CrawlReason& reason : reasons) {
    nlohmann::json entry = {{"state", storage::state_name(reason.state)},
                            {"reason", storage::reason_name(reason.reason)},
                            {"count", reason.count},
                            {"example", reason.example},
                            {"why", reason_words(reason, settings)}};
    if (reason.status != 0) entry["status"] = reason.status;
    if (const std::string fix = reason_fix(reason, settings); !fix.empty()) entry["fix"] = fix;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace orbweaver
