// The files of checkpoints: listed with their digests, and checked against a list. Thread rule: free functions, any
// thread.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/snapshot/manifest.h"

namespace orbweaver {

// All regular files below the directory, by name; with their digests if wanted. One read of each: 1 s for about 0.4 GB.
// `stop`: an error soon after it is set. Errors name the file.
Result<std::vector<SnapshotFile>> list_files(const std::string& directory, bool digests, const std::atomic<bool>& stop);

// Each listed file is there as it was, and there is no other. The error (io when a file cannot be read, invalid_input
// when it differs) names the file and says what to do.
Result<void> check_files(const std::string& directory, const std::vector<SnapshotFile>& files);

}  // namespace orbweaver
