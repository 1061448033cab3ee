#include "node/cli/contact_check.h"

#include <algorithm>
#include <optional>

#include "node/fetch/address_guard.h"
#include "node/http/url_place.h"
#include "node/settings/endpoint.h"
#include "node/settings/site_header.h"

namespace orbweaver {
namespace {

bool is_below(std::string_view host, std::string_view domain) {
  return host == domain || host.ends_with("." + std::string(domain));
}

// The address that a connection would go to, if it is known without DNS.
std::optional<IpAddress> known_address(const UrlPlace& place, const Settings& settings) {
  for (const std::string& text : settings.resolve) {
    const auto entry = parse_resolve_entry(text);
    if (!entry || entry->port != place.port || (entry->host != "*" && entry->host != place.host)) continue;
    return parse_ip(entry->address);
  }
  if (is_below(place.host, "localhost")) return parse_ip("127.0.0.1");  // RFC 6761, 6.3
  return parse_ip(place.host);
}

bool is_private(const UrlPlace& place, const Settings& settings) {
  if (const auto address = known_address(place, settings)) return !AddressGuard::is_public(*address);
  // RFC 6761, 6.2 and 6.4: such names do not exist in the public DNS.
  return is_below(place.host, "test") || is_below(place.host, "invalid");
}

}  // namespace

Result<void> check_contact(const Settings& settings, const std::vector<std::string>& seeds) {
  if (names_contact(settings.user_agent, settings.contact)) return {};
  const std::string mend =
      ": site owners must be able to reach you; set a page or mail address, for example --contact "
      "https://example.org/bot";
  if (!settings.proxy.empty())
    return fail(ErrorCode::invalid_setting, "a crawl through a proxy needs a contact" + mend);
  for (const std::string& seed : seeds) {
    const Result<CanonicalUrl> url = CanonicalUrl::parse(seed);
    if (!url || is_private(place_of(*url), settings)) continue;  // a bad URL is reported elsewhere
    return fail(ErrorCode::invalid_setting, "a crawl of " + seed + " needs a contact" + mend);
  }
  return {};
}

std::string private_range(const CanonicalUrl& url, const Settings& settings) {
  const auto address = known_address(place_of(url), settings);
  if (!address || AddressGuard::is_public(*address)) return {};
  for (const char* text : {"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "::1/128",
                           "fc00::/7", "fe80::/10"})
    if (const auto range = Cidr::parse(text); range && range->contains(*address)) return text;
  return address->text() + (address->size == 4 ? "/32" : "/128");
}

Result<void> check_reachable(const Settings& settings, const std::vector<std::string>& seeds) {
  const auto guard = AddressGuard::create(settings.allow_private, settings.deny_addresses);
  if (!guard) return tl::make_unexpected(guard.error());
  if (!settings.proxy.empty()) return {};  // only the proxy's address is judged
  std::string why;
  for (const std::string& seed : seeds) {
    const Result<CanonicalUrl> url = CanonicalUrl::parse(seed);
    if (!url) return {};
    const auto address = known_address(place_of(*url), settings);
    const auto refusal = address ? guard->refusal(*address) : std::nullopt;
    if (!refusal) return {};
    if (why.empty())
      why = url->text() + " would be refused: " + refusal->words +
            (refusal->error == FetchError::address_denied
                 ? "; remove its range from deny_addresses, which overrides allow_private"
                 : "; private addresses are fetched only when they are allowed: --allow-private " +
                       private_range(*url, settings));
  }
  if (why.empty()) return {};
  return fail(ErrorCode::invalid_setting, "no page could be fetched: " + why);
}

}  // namespace orbweaver
