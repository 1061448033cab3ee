// Before a crawl: do the people whose sites are crawled know whom to turn to, and may any page be fetched at all?
#pragma once

#include <string>
#include <vector>

#include "node/base.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

// Refuses seeds that may be on public addresses when there is neither a contact nor a User-Agent that names one. A seed
// needs none whose host is a private address, sent to one by the setting resolve, or a name that the public DNS does
// not have (RFC 6761: localhost, .test, .invalid); what a crawl comes to later is judged at each connection. The error
// says what to set.
Result<void> check_contact(const Settings& settings, const std::vector<std::string>& seeds);

// Refuses seeds of which none could be fetched, since the address of each is known beforehand (it is in the URL, in the
// setting resolve, or the host is localhost) and the crawl may not connect to it. The error says what to set.
Result<void> check_reachable(const Settings& settings, const std::vector<std::string>& seeds);

// The range to allow so that a URL's private address may be connected to: "127.0.0.0/8". Empty when its address is not
// known beforehand, or is public.
std::string private_range(const CanonicalUrl& url, const Settings& settings);

}  // namespace orbweaver
