// Directories, and which of their names survive a power cut. A new file's contents can be on the disk and its name not:
// a name is on the disk when its directory was synced. Thread rule: any thread.
#pragma once

#include <string>

#include "storage/open_waiter.h"
#include "storage/types.h"

namespace orbweaver::storage {

// Makes it and missing parents.
Result<void> make_directory(const std::string& path);
// The names in this directory are on the disk afterwards. A `waiter` waits out a lack of descriptors, here and below.
Result<void> sync_directory(const std::string& path, OpenWaiter* waiter = nullptr);
// The names in this directory are on the disk afterwards, and those that lead to it: each directory above that this
// process could have made, up to the first that it may not write to, or to another file system. So it does not matter
// whether this process made them, or one before it that was killed before it could sync them.
Result<void> sync_directories_to(const std::string& path, OpenWaiter* waiter = nullptr);

}  // namespace orbweaver::storage
