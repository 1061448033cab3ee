// A small file that is there whole or not at all: readers never see a part of it.
#pragma once

#include <string>

#include "node/base.h"
#include "storage/open_waiter.h"

namespace orbweaver {

// Replaces the file. `waiter`: see storage/open_waiter.h; null: a lack of descriptors is an error.
Result<void> write_whole_file(const std::string& path, const std::string& text, storage::OpenWaiter* waiter);

}  // namespace orbweaver
