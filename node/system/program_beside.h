// The other program of Orbweaver: `orbweaver` runs the crawler and its commands, `orbweaver-lab` runs the experiments
// and the sample web, which the crawler's process carries no code of. Both are built and installed in one directory.
// Thread rule: free functions.
#pragma once

#include <string>

#include "node/base.h"

namespace orbweaver {

inline constexpr const char* crawler_program = "orbweaver";
inline constexpr const char* lab_program = "orbweaver-lab";

// The path of the program of that name in the directory of this process's own program, links resolved. Errors (io): it
// is not there or may not be run; the message says where it was looked for and what to do.
Result<std::string> program_beside(const std::string& name);

// This process becomes that program, with the same arguments, descriptors, process id and so signals; its exit code is
// this process's. Returns only when that failed, with the reason.
Error become(const std::string& name, char** argv);

}  // namespace orbweaver
