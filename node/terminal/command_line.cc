#include "node/terminal/command_line.h"

#include <filesystem>
#include <new>
#include <sstream>

#include "node/terminal/say.h"

namespace orbweaver {

int failed(const Error& error) {
  complain("%s", error.message.c_str());
  return static_cast<int>(error.code);
}

int run_command_line(CLI::App& app, std::vector<std::string> words, const int& code) {
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("orbweaver: ") + error.what() + "; see orbweaver --help\n";
  });
  const std::string wanted = words.size() > 1 ? words[1] : "";
  const auto is_wanted = [&](const CLI::App* command) { return command->get_name() == wanted; };
  if (!wanted.empty() && wanted[0] != '-' && app.get_subcommands(is_wanted).empty())
    return failed({ErrorCode::invalid_setting, "there is no command '" + wanted + "'; see orbweaver --help"});
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  try {
    app.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    std::ostringstream fault;  // quotes arguments, which may be a stranger's URL
    const int shown = app.exit(error, help, fault);
    say_text(help.str());
    say_aside(fault.str());
    return shown == 0 ? 0 : static_cast<int>(ErrorCode::invalid_setting);
  } catch (const std::bad_alloc&) {
    return failed({ErrorCode::out_of_memory, "the system gives this process no more memory"});
  } catch (const std::filesystem::filesystem_error& error) {
    return failed({ErrorCode::io, error.what()});
  } catch (const std::exception& error) {
    return failed({ErrorCode::internal, std::string("a fault of Orbweaver's own: ") + error.what()});
  }
  return code;
}

int code_at_exit(int code) {
  if (all_said() || code != 0) return code;  // a command that failed has reported why
  return failed({ErrorCode::io, "standard output could not be written"});
}

}  // namespace orbweaver
