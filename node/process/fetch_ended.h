// What the peer is told of a transfer that has ended. Pure. Thread rule: any thread.
#pragma once

#include "node/crawl/events.h"
#include "node/fetch/fetcher.h"

namespace orbweaver {

FetchEnded ended_of(const FetchResponse& response);

}  // namespace orbweaver
