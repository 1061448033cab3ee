// Seeds as people write them: `example.org` without a scheme. Such a host is asked by https; if that fails, by http.
// Thread rule: main thread.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"
#include "node/settings/settings.h"

namespace orbweaver {

// "example.org", "example.org:8080/a", "localhost": no scheme, and a host at the beginning.
bool lacks_scheme(const std::string& seed);

// `seeds` with https before each that lacks a scheme; no request is sent.
std::vector<std::string> by_https(std::vector<std::string> seeds);

// `seeds` with a scheme before each that lacks one: https if the host answers a request for its robots.txt by https,
// else http if it answers by that, else https. Reports each host, the chosen scheme and the reason on standard error.
// Each request takes at most `robots_timeout`. After the requests it waits for `delay`, so that the crawl's own first
// request to these hosts comes later. Errors: those of check_contact() for such a seed; unreachable when all seeds lack
// a scheme and none of their hosts answers.
Result<std::vector<std::string>> with_schemes(std::vector<std::string> seeds, const Settings& settings);

}  // namespace orbweaver
