// Starts a thread, which the system may refuse (no memory for its stack, too many threads). Thread rule: free
// function.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "node/base.h"

namespace orbweaver {

// Runs `work` on `thread`. The error says what the system lacks.
template <class Work>
Result<void> start_thread(std::thread& thread, Work work) {
  try {
    thread = std::thread(std::move(work));
    return {};
  } catch (const std::system_error& error) {
    return fail(ErrorCode::out_of_memory, std::string("a thread cannot be started (") + error.code().message() +
                                              "): this process may not have more memory, or more threads");
  }
}

}  // namespace orbweaver
