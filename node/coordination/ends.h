// How things end: the crawl as it was told to have ended (CrawlEnd), this process (Farewell), and how the ring finds
// the crawl's end (Ending). Thread rule: one owner (the peer's loop).
#pragma once

#include "node/coordination/crawl_end.h"
#include "node/coordination/ending.h"
#include "node/coordination/farewell.h"

namespace orbweaver {

struct Ends {
  // All outlive it.
  Ends(const PeerState& state, Members& members, Lifecycle& lifecycle, const Messenger& messenger, RecordWriter& writer)
      : crawl(messenger),
        process(state, members, lifecycle, messenger, writer),
        search(state, members, messenger, lifecycle, writer, crawl, process) {}
  Ends(const Ends&) = delete;  // its parts point at each other
  Ends& operator=(const Ends&) = delete;

  CrawlEnd crawl;
  Farewell process;
  Ending search;
};

}  // namespace orbweaver
