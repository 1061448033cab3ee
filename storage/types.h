// Small values of storage/. It includes neither ring/ nor node/.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace orbweaver::storage {

// One kind of time everywhere: microseconds since the Unix epoch, always passed in.
using Duration = std::chrono::microseconds;
using Time = std::chrono::sys_time<Duration>;

enum class ErrorKind : std::uint8_t {
  io,         // the operating system or RocksDB refused
  disk_full,  // no space left
  corrupt,    // stored bytes that cannot be read
  in_use,     // another process has the directory
  version,    // a format this build does not know
};

struct Error {
  ErrorKind kind = ErrorKind::io;
  std::string message;  // names the file and the cause
};
template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::make_unexpected(Error{kind, std::move(message)});
}

}  // namespace orbweaver::storage
