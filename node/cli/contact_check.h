// Before a crawl of other people's sites: do they know whom to turn to?
#pragma once

#include <string>
#include <vector>

#include "node/base.h"
#include "node/config/settings.h"

namespace orbweaver {

// Refuses seeds that may be on public addresses when there is neither a contact nor a User-Agent that names one. A seed
// needs none whose host is a private address, sent to one by the setting resolve, or a name that the public DNS does
// not have (RFC 6761: localhost, .test, .invalid); what a crawl comes to later is judged at each connection. The error
// says what to set.
Result<void> check_contact(const Settings& settings, const std::vector<std::string>& seeds);

}  // namespace orbweaver
