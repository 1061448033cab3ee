// Runs a command of the user's on a body: the body on its standard input, its standard output is the answer. The body
// is a stranger's, so the command is confined as node/system/confined_process.h says, and ends with all that it
// started. Thread rule: run() on any thread, several at a time; it blocks until the command has ended or was killed,
// `timeout` at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/system/confined_process.h"

namespace orbweaver {

struct CommandOutput {
  std::string text;        // what it wrote, cut at `output_bytes_max`
  bool truncated = false;  // it wrote more, and was stopped there
  std::string fault;  // why there is nothing to use: not found, a signal, an exit code, the time; empty: all is well
};

struct CommandLimits {
  Duration timeout{std::chrono::seconds{30}};  // and CPU time of each of its processes
  std::size_t output_bytes_max = 0;
  std::uint64_t memory_bytes = 0;  // address space of each of its processes
};

class UserCommands {
 public:
  using Namespaces = ConfinedProcesses::Namespaces;
  explicit UserCommands(Namespaces namespaces = Namespaces::where_allowed) : processes_(namespaces) {}
  // `arguments` is the program, looked up in PATH, and its arguments; at least one. No shell reads them. Its standard
  // error goes nowhere.
  CommandOutput run(const std::vector<std::string>& arguments, std::string_view input, const CommandLimits& limits);

 private:
  ConfinedProcesses processes_;
};

}  // namespace orbweaver
