// The few types that every file of node/ shares: time, failure as a value.
//
// Time is one kind everywhere: microseconds since the Unix epoch, read once by the loop and passed in as `now`.
// No rule reads a clock. Thread rule: values, free to copy between threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace orbweaver {

using Duration = std::chrono::microseconds;
using Time = std::chrono::sys_time<Duration>;

// The kind of failure; the numbers are also process exit codes (docs/inside/architecture.md, "Exit codes").
enum class ErrorCode : std::uint8_t {
  invalid_input = 2,    // a URL, file or message that cannot be parsed
  invalid_setting = 3,  // an unknown key, a bad value, a contradiction
  mismatch = 4,         // a ring or data directory that differs from the requested one
  in_use = 5,           // a port or a data directory that another process uses
  unreachable = 6,      // a peer that does not answer
  io = 7,               // the operating system refused a read or a write
  disk_full = 8,        // no space left
  unsupported = 9,      // a format version or feature that this build does not know
  internal = 10,        // a promise of our own that is broken
  out_of_memory = 11,   // the system gives this process no more memory or threads
};

// A failure from outside. `message` names the cause and, where there is one, the fix.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::make_unexpected(Error{code, std::move(message)});
}

}  // namespace orbweaver
