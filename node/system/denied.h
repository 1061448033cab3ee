// What is said of files and directories that this process may not look at, as those of another user. Thread rule: main
// thread (it asks for users' names).
#pragma once

#include <string>

#include "node/base.h"

namespace orbweaver {

// io: "cannot read c1/ring.key: Permission denied; c1 belongs to root: run this as root". `error` is an errno. The
// owner is that of the first part of the path that keeps this process out, where there is one.
tl::unexpected<Error> cannot_read(const std::string& path, int error);

// Whether the path leads to something. io when that cannot be known, since a directory on the way may not be searched.
Result<bool> is_there(const std::string& path);

}  // namespace orbweaver
