// Orders for a crawl whose peers do not run: they are written into the peers' stores, and carried out when the peers
// are started again. Thread rule: main thread.
#pragma once

#include <cstddef>
#include <string>

#include "node/base.h"
#include "node/links/recrawl_walk.h"

namespace orbweaver {

// Visit again what `wanted` says; a crawl that had ended goes on at its next start. Returns the number of peers.
// Errors, with nothing written: in_use when a peer runs there; unreachable when none has, or when the ring has peers
// elsewhere; a peer has too many orders. If a store fails as it is written, those before have the order.
Result<std::size_t> order_stopped(const std::string& directory, const RecrawlWalk::Wanted& wanted);

}  // namespace orbweaver
