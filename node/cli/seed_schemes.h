// Seeds as people write them: `example.org` without a scheme. Each such host is asked once, by https and then by http.
// Thread rule: main thread.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"
#include "node/settings/settings.h"

namespace orbweaver {

// "example.org", "example.org:8080/a", "localhost": no scheme, and a host first.
bool lacks_scheme(const std::string& seed);

// `seeds` with https before each that lacks a scheme; nobody is asked.
std::vector<std::string> by_https(std::vector<std::string> seeds);

// `seeds` with a scheme before each that lacks one: https where the host answers a request for its robots.txt by https,
// else http where it answers by that, else https. Says on standard error whom it asks, and then which, and why; each
// question takes `robots_timeout` at most. Waits at the end until the `delay` of the hosts that were asked has passed:
// the crawl's own first request comes after it. Errors: what check_contact() says of such a seed; unreachable when all
// seeds lack a scheme and none of their hosts answers.
Result<std::vector<std::string>> with_schemes(std::vector<std::string> seeds, const Settings& settings);

}  // namespace orbweaver
