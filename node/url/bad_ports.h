// Ports that no page is fetched from: those of other protocols' servers, which a link could make the crawler speak to.
// A mail or chat server takes it for an attacker, and some of its words may be commands. Source: the Fetch standard,
// "port blocking" (https://fetch.spec.whatwg.org/#port-blocking). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orbweaver {

// `allowed`: the setting allow_ports, numbers as text.
bool is_bad_port(std::uint16_t port, const std::vector<std::string>& allowed);

}  // namespace orbweaver
