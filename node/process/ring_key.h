// The secret that a ring's peers share, as a file: 40 characters of Z85 that only its owner may read. Anyone who has it
// controls the ring (docs/decisions/0008-one-ring-key.md).
#pragma once

#include <string>

#include "node/base.h"
#include "node/settings/settings.h"

namespace orbweaver {

// Empty for an empty path. A file that users other than its owner may read or write is refused (invalid_setting), with
// the command that repairs it: others may already know the key, or have put theirs there.
Result<std::string> read_ring_key(const std::string& path);

// Writes a new key; an existing file is kept, and is an error. unsupported: libzmq without CURVE.
Result<void> make_ring_key_file(const std::string& path, Durability durability);

}  // namespace orbweaver
