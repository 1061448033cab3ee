// Errors for files and directories that this process may not read, such as another user's. Thread rule: main thread (it
// looks up users' names).
#pragma once

#include <string>

#include "node/base.h"

namespace orbweaver {

// io: "cannot read c1/ring.key: Permission denied; c1 belongs to root: run this as root". `error` is an errno. The
// owner named is that of the first part of the path that stops this process, if there is one.
tl::unexpected<Error> cannot_read(const std::string& path, int error);

// Whether the path exists. io if that is unknown, because a directory on the way may not be searched.
Result<bool> is_there(const std::string& path);

}  // namespace orbweaver
