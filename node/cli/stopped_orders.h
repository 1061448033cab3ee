// Orders for a crawl whose peers do not run: they are written into the peers' stores, and carried out when the peers
// are started again. Thread rule: main thread.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/base.h"

namespace orbweaver {

// An order as node/peer/order_request.h reads it; a crawl that had ended goes on at its next start when it is one to
// visit pages again. Returns the number of peers. Errors, with nothing written: in_use when a peer runs there;
// unreachable when none has, or when the ring has peers elsewhere; the ring has too many orders; the order's own
// faults. If a store fails as it is written, those before have the order.
Result<std::size_t> order_stopped(const std::string& directory, const std::string& verb, const nlohmann::json& body);

}  // namespace orbweaver
