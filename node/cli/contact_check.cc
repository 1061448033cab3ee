#include "node/cli/contact_check.h"

#include <algorithm>

#include "node/config/endpoint.h"
#include "node/config/site_header.h"
#include "node/fetch/address_guard.h"
#include "node/fetch/url_place.h"
#include "node/url/canonical_url.h"

namespace orbweaver {
namespace {

bool is_private(const UrlPlace& place, const Settings& settings) {
  for (const std::string& text : settings.resolve) {
    const auto entry = parse_resolve_entry(text);
    if (!entry || entry->port != place.port || (entry->host != "*" && entry->host != place.host)) continue;
    const auto address = parse_ip(entry->address);
    return address && !AddressGuard::is_public(*address);
  }
  // RFC 6761, 6.2 to 6.4: the public DNS has no such names.
  for (const std::string_view local : {"localhost", "test", "invalid"})
    if (place.host == local || place.host.ends_with("." + std::string(local))) return true;
  const auto address = parse_ip(place.host);
  return address && !AddressGuard::is_public(*address);
}

}  // namespace

Result<void> check_contact(const Settings& settings, const std::vector<std::string>& seeds) {
  if (names_contact(settings.user_agent, settings.contact)) return {};
  const std::string mend =
      ": people whose sites are crawled must be able to reach you; set a page or mail address, for example --contact "
      "https://example.org/bot";
  if (!settings.proxy.empty())
    return fail(ErrorCode::invalid_setting, "a crawl through a proxy needs a contact" + mend);
  for (const std::string& seed : seeds) {
    const Result<CanonicalUrl> url = CanonicalUrl::parse(seed);
    if (!url || is_private(url_place(url->text()), settings)) continue;  // a bad URL is told elsewhere
    return fail(ErrorCode::invalid_setting, "a crawl of " + seed + " needs a contact" + mend);
  }
  return {};
}

}  // namespace orbweaver
