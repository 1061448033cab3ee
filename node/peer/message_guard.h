// The boundary for what other peers and commands send (decision 22): whatever a message makes a library or this peer's
// own code throw, the message is refused, and the peer continues.
#pragma once

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include "node/crawl/step.h"

namespace orbweaver {

// Runs `handle` and returns what it returns. When it throws, its commands are dropped except for its log lines,
// `refused` says why, and an empty value is returned. `memory_follows`: memory is behind the disk; then the exception
// continues, and ends the process.
template <class Handle, class MemoryFollows>
auto guarded(const Step& step, const Handle& handle, const MemoryFollows& memory_follows,
             std::optional<std::string>& refused) -> decltype(handle()) {
  const std::size_t said = step.out.size();
  try {
    return handle();
  } catch (const std::exception& error) {
    if (memory_follows()) throw;
    step.out.erase(std::remove_if(step.out.begin() + static_cast<std::ptrdiff_t>(said), step.out.end(),
                                  [](const Command& command) { return !std::holds_alternative<LogEntry>(command); }),
                   step.out.end());
    refused = error.what();
  }
  return {};
}

}  // namespace orbweaver
