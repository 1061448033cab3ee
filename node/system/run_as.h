// A crawler reads hostile bytes; what takes it over has what its user has. Started as root, it becomes another user
// before it opens a socket or reads a page. Thread rule: before any thread is started.
#pragma once

#include <string>

#include "node/base.h"
#include "node/settings/settings.h"

namespace orbweaver {

// Makes the data directory, for that user when it is new or empty, and becomes that user, with its groups, for good.
// Root makes or gives one directory at most, where the user cannot: the rest is made as that user. What is wrong with
// the path (private_file.h, walk_path()), or out of the user's reach, is an error (io), before anything is made.
// An empty name: stays who it is; as root it says, on standard error, what that means. "root" is taken as meant.
// invalid_setting: no such user, or this process is not root's.
Result<void> run_as(const std::string& user, const std::string& directory, DataAccess access);

}  // namespace orbweaver
