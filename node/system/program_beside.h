// The other program of Orbweaver: `orbweaver` runs the crawler and its commands, `orbweaver-lab` runs the experiments
// and the sample web, whose code the crawler's process does not contain. Both are built and installed in one directory.
// Thread rule: free functions.
#pragma once

#include <string>

#include "node/base.h"

namespace orbweaver {

inline constexpr const char* crawler_program = "orbweaver";
inline constexpr const char* lab_program = "orbweaver-lab";

// The directory of this process's program, links resolved. Errors: io.
Result<std::string> program_directory();

// The path of the program with that name in the directory of this process's program, links resolved. Errors (io): it
// does not exist or is not executable; the message says where it was expected and what to do.
Result<std::string> program_beside(const std::string& name);

// Replaces this process by that program, with the same arguments, descriptors and process id, so signals reach it; its
// exit code is this process's. Returns only on failure, with the reason.
Error become(const std::string& name, char** argv);

}  // namespace orbweaver
