// What one step of a peer gives to each of its parts: the time, and the list that commands go into. Thread rule: one
// owner (the peer's loop).
#pragma once

#include "node/crawl/events.h"

namespace orbweaver {

struct Step {
  Time now;
  Commands& out;
};

}  // namespace orbweaver
