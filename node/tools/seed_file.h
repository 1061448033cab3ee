// Seed files: one URL per line; blank lines and lines that begin with # are skipped.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// Every URL must be valid: the error contains the file, the line, the text and the fault.
Result<std::vector<std::string>> read_seed_file(const std::string& path);

// The same check for URLs on a command line.
Result<void> check_seeds(const std::vector<std::string>& urls);

}  // namespace orbweaver
