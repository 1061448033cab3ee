// Seed files: one URL a line, blank lines and lines that begin with # left out.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// Every URL must parse: the error names the file, the line, the text and what is wrong with it.
Result<std::vector<std::string>> read_seed_file(const std::string& path);

// The same check for URLs of a command line.
Result<void> check_seeds(const std::vector<std::string>& urls);

}  // namespace orbweaver
