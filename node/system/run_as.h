// A crawler reads hostile bytes: an attacker who takes it over gets its user's rights. So if started as root, it
// becomes another user before it opens a socket or reads a page. Thread rule: before any thread is started.
#pragma once

#include <string>

#include "node/base.h"
#include "node/settings/settings.h"

namespace orbweaver {

// Makes the data directory (for that user, if it is new or empty) and becomes that user permanently, with its groups.
// Root makes or gives at most one directory, and only where the user cannot; the user makes the rest. If the path is
// invalid (private_file.h, walk_path()) or the user cannot reach it, the error is io, before anything is made. An empty
// name: the user stays the same, and root gets a warning on standard error; "root" gets none. invalid_setting: there is
// no such user, or this process is not root's.
Result<void> run_as(const std::string& user, const std::string& directory, DataAccess access);

}  // namespace orbweaver
