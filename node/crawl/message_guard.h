// The boundary for what other peers and commands send (decision 22): whatever a message makes a library or this peer's
// own code throw, the message is refused, and the peer goes on.
#pragma once

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include "node/crawl/step.h"

namespace orbweaver {

// Runs `handle`, which answers Result<void>. When it throws, nothing that it would have said leaves but what it logged,
// and `refused` says why. `memory_follows`: memory is behind the disk; then the exception goes on, and ends the
// process.
template <class Handle, class MemoryFollows>
Result<void> guarded(const Step& step, const Handle& handle, const MemoryFollows& memory_follows,
                     std::optional<std::string>& refused) {
  const std::size_t said = step.out.size();
  try {
    return handle();
  } catch (const std::exception& error) {
    if (memory_follows()) throw;
    step.out.erase(std::remove_if(step.out.begin() + static_cast<std::ptrdiff_t>(said), step.out.end(),
                                  [](const Command& command) { return !std::holds_alternative<Note>(command); }),
                   step.out.end());
    refused = error.what();
  }
  return {};
}

}  // namespace orbweaver
