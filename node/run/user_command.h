// Runs a command of the user's on a body: the body on its standard input, its standard output is the answer.
// Thread rule: any thread; blocks it until the command has ended or was killed, `timeout` at most. The command runs in
// a process group of its own, which is killed as a whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct CommandOutput {
  std::string text;        // what it wrote, cut at `output_bytes_max`
  bool truncated = false;  // it wrote more, and was stopped there
  std::string fault;  // why there is nothing to use: not found, a signal, an exit code, the time; empty: all is well
};

// `arguments` is the program, looked up in PATH, and its arguments; at least one. No shell reads them. The command sees
// no file of this process, and its standard error goes nowhere.
CommandOutput run_user_command(const std::vector<std::string>& arguments, std::string_view input, Duration timeout,
                               std::size_t output_bytes_max);

}  // namespace orbweaver
