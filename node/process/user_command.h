// Runs a user's command on a body: the body is its standard input, its standard output is the result. The body comes
// from a stranger, so the command is confined (node/system/confined_process.h) and ends together with all processes
// that it started. Thread rule: run() on any thread, several at a time. It blocks until the command has ended or was
// killed, for at most `timeout`.
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
  std::string text;        // its output, cut at `max_output_bytes`
  bool truncated = false;  // there was more output, and the command was stopped
  std::string fault;       // why the output is unusable: not found, a signal, an exit code, the time; empty: no fault
};

struct CommandLimits {
  Duration timeout{std::chrono::seconds{30}};  // and CPU time of each of its processes
  std::size_t max_output_bytes = 0;
  std::uint64_t memory_bytes = 0;  // address space of each of its processes
};

class UserCommands {
 public:
  using Namespaces = ConfinedProcesses::Namespaces;
  explicit UserCommands(Namespaces namespaces = Namespaces::where_allowed) : processes_(namespaces) {}
  // `arguments`: the program, which is looked up in PATH, and its arguments; at least one. No shell reads them.
  // Standard error is discarded.
  CommandOutput run(const std::vector<std::string>& arguments, std::string_view input, const CommandLimits& limits);

 private:
  ConfinedProcesses processes_;
};

}  // namespace orbweaver
