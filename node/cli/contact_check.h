// Checks before a crawl: can the owners of crawled sites find a contact, and may any page be fetched at all?
#pragma once

#include <string>
#include <vector>

#include "node/base.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

// Refuses seeds that may be on public addresses when there is no contact and no User-Agent that names one. A seed needs
// none if its host is a private address, if the setting resolve sends it to one, or if the public DNS does not have the
// name (RFC 6761: localhost, .test, .invalid). The addresses of later pages are checked at each connection. The error
// says what to set.
Result<void> check_contact(const Settings& settings, const std::vector<std::string>& seeds);

// Refuses seeds if none of them can be fetched: the address of each is known beforehand (from the URL, the setting
// resolve, or localhost), and the crawl may not connect to it. The error says what to set.
Result<void> check_reachable(const Settings& settings, const std::vector<std::string>& seeds);

// The range to allow so that the crawl may connect to a URL's private address: "127.0.0.0/8". Empty when the address is
// unknown beforehand, or public.
std::string private_range(const CanonicalUrl& url, const Settings& settings);

}  // namespace orbweaver
