// How things end: the crawl, as another peer announced it (AnnouncedEnd), this process (Farewell), and how the ring
// finds the crawl's end (Ending). Thread rule: one owner (the peer's loop).
#pragma once

#include "node/coordination/announced_end.h"
#include "node/coordination/ending.h"
#include "node/coordination/farewell.h"

namespace orbweaver {

struct EndParts {
  // All outlive it.
  EndParts(const PeerState& state, Members& members, Lifecycle& lifecycle, const Messenger& messenger,
           RecordWriter& writer)
      : crawl(messenger),
        process(state, members, lifecycle, messenger, writer),
        search(state, members, messenger, lifecycle, writer, crawl, process) {}
  EndParts(const EndParts&) = delete;  // its parts point at each other
  EndParts& operator=(const EndParts&) = delete;

  AnnouncedEnd crawl;
  Farewell process;
  Ending search;
};

}  // namespace orbweaver
