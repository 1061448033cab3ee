// storage/ has its own errors, because it does not know node/. This maps them to ours, with their exit codes. Pure.
// Thread rule: free function.
#pragma once

#include "node/base.h"
#include "storage/types.h"

namespace orbweaver {

inline Error error_of(const storage::Error& error) {
  switch (error.kind) {
    case storage::ErrorKind::disk_full:
      return {ErrorCode::disk_full, error.message};
    case storage::ErrorKind::in_use:
      return {ErrorCode::in_use, error.message};
    case storage::ErrorKind::version:
      return {ErrorCode::unsupported, error.message};
    case storage::ErrorKind::io:
    case storage::ErrorKind::corrupt:
      break;
  }
  return {ErrorCode::io, error.message};
}

// For a file that the user named: a fault in the file is bad input; the rest is the system's fault.
inline Error error_of_input(const storage::Error& error) {
  if (error.kind == storage::ErrorKind::corrupt) return {ErrorCode::invalid_input, error.message};
  return error_of(error);
}

}  // namespace orbweaver
