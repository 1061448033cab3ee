// The secret that a ring's peers share, as a file: 40 characters of Z85 that only its owner may read. Who has it owns
// the ring (docs/decisions/0008-one-ring-key.md).
#pragma once

#include <string>

#include "node/base.h"

namespace orbweaver {

// Empty for an empty path. A file that others than its owner may read or write is refused (invalid_setting), with the
// command that repairs it: the key may be known already, or another's.
Result<std::string> read_ring_key(const std::string& path);

// Writes a new key; a file that is there stays as it is, and is an error. unsupported: libzmq without CURVE.
Result<void> make_ring_key_file(const std::string& path);

}  // namespace orbweaver
