// Ports from which no page is fetched: those of other protocols' servers, to which a link could make the crawler
// connect. A mail or chat server would treat it as an attacker, and parts of its request may be commands. Source: the
// Fetch standard, "port blocking" (https://fetch.spec.whatwg.org/#port-blocking). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orbweaver {

// `allowed`: the setting allow_ports, numbers as text.
bool is_bad_port(std::uint16_t port, const std::vector<std::string>& allowed);

}  // namespace orbweaver
