// An operator's command that is told of an event: the JSON is its standard input. It runs as this process's user, in a
// session of its own, without this process's descriptors; it is not confined, unlike commands that read hostile bytes
// (node/process/user_command.h). The process ignores SIGPIPE. Thread rule: any thread; it blocks until the command has
// ended or was killed.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "node/notify/notice_sender.h"

namespace orbweaver {

struct HookCommand {
  std::vector<std::string> arguments;  // the program, looked up in PATH, and its arguments
  std::chrono::milliseconds timeout{60'000};
};

// The words of a setting.
std::vector<std::string> words_of(const std::string& command);

// Exit code 0: taken. Anything else: again.
Delivery run(const HookCommand& command, const std::string& json);

}  // namespace orbweaver
