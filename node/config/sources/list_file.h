// Lists in a file: an entry "@FILE" of such a setting means the lines of that file, each an entry; blank lines and
// lines that begin with # are skipped. The file is read once, when the settings are loaded: only the lines travel
// around the ring. Thread rule: free functions; reads files.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// A larger file is a mistake: ring-wide settings are sent to every peer that joins, in one message.
inline constexpr std::size_t max_list_file_bytes = std::size_t{512} << 10;

// Errors name the file and what is wrong with it.
Result<std::vector<std::string>> expand_list_files(const std::vector<std::string>& entries);

}  // namespace orbweaver
