#include "node/cli/manual.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "node/terminal/say.h"

namespace orbweaver {
namespace {

constexpr std::string_view settings_mark = "settings";  // in the names of setting_flags.cc's groups

bool is_setting(const CLI::Option& option) { return option.get_group().find(settings_mark) != std::string::npos; }

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

// --- the manual page ---

// A line that begins with a dot or a quote would be a request of roff's.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string entry(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames())
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff("-" + name) + "\\fR");
  for (const std::string& name : option.get_lnames())
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff("--" + name) + "\\fR");
  if (names.empty()) names = "\\fI" + roff(option.get_name()) + "\\fR";
  const std::string type = option.get_type_name();  // "UINT:UINT in [1 - 256]"
  if (option.get_items_expected_max() > 0 && !option.get_positional())
    names += " \\fI" + roff(type.substr(0, type.find(':'))) + "\\fR";
  std::string text = roff(option.get_description());
  if (!option.get_default_str().empty()) text += " [" + roff(option.get_default_str()) + "]";
  return ".TP\n" + names + "\n" + text + "\n";
}

std::string section(const CLI::App& command, const std::string& path) {
  std::string out;
  const auto subcommands = commands_of(command);
  if (subcommands.empty()) {
    std::string usage = "\\fB" + roff(path) + "\\fR [\\fIflags\\fR]";
    bool settings = false;
    std::string entries;
    for (const CLI::Option* option : options_of(command)) {
      if (option->get_positional() && option->get_lnames().empty())
        usage += " \\fI" + roff(option->get_name()) + "\\fR";
      if (is_setting(*option)) {
        settings = true;
      } else if (option->get_name() != "--help") {
        entries += entry(*option);
      }
    }
    out += ".SS " + roff(path.substr(path.find(' ') + 1)) + "\n" + usage + "\n.PP\n" + roff(command.get_description()) +
           (settings ? ". Takes a flag for each setting, see SETTINGS" : "") + ".\n" + entries;
  }
  for (const CLI::App* each : subcommands) out += section(*each, path + " " + each->get_name());
  return out;
}

std::string settings_section(const CLI::App& app) {
  std::string out;
  std::string group;
  for (const CLI::App* command : commands_of(app)) {
    if (command->get_name() != "node") continue;
    for (const CLI::Option* option : options_of(*command)) {
      if (!is_setting(*option)) continue;
      if (option->get_group() != group) {
        group = option->get_group();
        out += ".SS " + roff(group) + "\n";
      }
      out += entry(*option);
    }
  }
  return out;
}

constexpr std::string_view tail = R"(.SH ENVIRONMENT
.TP
\fBORBWEAVER_\fR\fINAME\fR
The setting \fINAME\fR in capital letters, such as ORBWEAVER_MAX_PAGES. Flags override the environment, the environment
overrides the file of \fB\-\-config\fR.
.SH EXAMPLES
.nf
orbweaver crawl https://example.org/ \-\-peers 2 \-\-out my\-crawl \-\-contact https://you.example/bot
orbweaver status \-\-dir my\-crawl
orbweaver explain https://example.org/a \-\-dir my\-crawl
orbweaver index my\-crawl
.fi
.SH SEE ALSO
The documentation is installed with the program, in share/doc/orbweaver below its prefix.
)";

// --- the completion ---

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The values from "one of a, b" (a setting) and from "{a,b}" (a checked flag).
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  constexpr std::string_view one_of = "one of ";
  std::string list;
  if (type.starts_with(one_of)) {
    list = type.substr(one_of.size());
  } else if (type == "yes or no") {
    list = "yes,no";
  } else if (const std::size_t open = type.find('{'); open != std::string::npos) {
    list = type.substr(open + 1, type.find('}', open) - open - 1);
  }
  std::vector<std::string> values;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    std::string value = list.substr(at, end - at);
    value.erase(0, value.find_first_not_of(' '));
    if (!value.empty()) values.push_back(std::move(value));
    at = end + 1;
  }
  return values;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

struct Script {
  std::string paths;   // a word of the command line -> the command that it belongs to
  std::string values;  // a flag that takes a value -> its possible values
  std::string words;   // a command -> its flags and commands
};

void complete(const CLI::App& command, const std::string& path, Script& script) {
  std::vector<std::string> words;
  for (const CLI::App* each : commands_of(command)) {
    const std::string longer = path.empty() ? each->get_name() : path + " " + each->get_name();
    words.push_back(each->get_name());
    script.paths += "      " + shell_word(path + ":" + each->get_name()) + ") path=" + shell_word(longer) + " ;;\n";
    complete(*each, longer, script);
  }
  for (const CLI::Option* option : options_of(command)) {
    std::string flags;
    for (const std::string& name : option->get_lnames()) {
      words.push_back("--" + name);
      flags += (flags.empty() ? "" : "|") + shell_word(path + ":--" + name);
    }
    if (flags.empty() || option->get_items_expected_max() == 0) continue;
    const std::string type = option->get_type_name();
    const std::vector<std::string> values = values_of(*option);
    script.values += "    " + flags + ") ";
    if (!values.empty()) {
      script.values += "words=" + shell_word(joined(values)) + " ;;\n";
    } else if (type.find("DIR") != std::string::npos) {
      script.values += "COMPREPLY=($(compgen -d -- \"$current\")); return ;;\n";
    } else if (type.find("FILE") != std::string::npos || type.find("PATH") != std::string::npos) {
      script.values += "COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n";
    } else {
      script.values += "return ;;\n";
    }
  }
  script.words += "      " + shell_word(path) + ") words=" + shell_word(joined(words)) + " ;;\n";
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  std::string out = ".TH ORBWEAVER 1 \"\" \"" + roff(version) + "\" \"User Commands\"\n.SH NAME\n" +
                    "orbweaver \\- a web crawler made of equal peers\n.SH SYNOPSIS\n" +
                    "\\fBorbweaver\\fR \\fIcommand\\fR [\\fIflags\\fR]\n.SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app)) out += section(*command, "orbweaver " + command->get_name());
  out +=
      ".SH SETTINGS\nEach is a flag of \\fBcrawl\\fR and \\fBnode\\fR, a line of the settings file, or a variable of "
      "the environment.\n";
  out += settings_section(app);
  out += tail;
  return out;
}

std::string bash_completion(const CLI::App& app) {
  Script script;
  complete(app, "", script);
  return R"(# Completion of orbweaver's commands and flags for bash; made by `orbweaver completion bash`.
_orbweaver() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} path= words= at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$path:${COMP_WORDS[at]}" in
)" + script.paths +
         R"(    esac
  done
  case "$path:$previous" in
)" + script.values +
         R"(  esac
  if [ -z "$words" ]; then
    case "$path" in
)" + script.words +
         R"(    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _orbweaver orbweaver
)";
}

void add_manual_commands(CLI::App& app, int& code) {
  CLI::App* completion =
      app.add_subcommand("completion", "prints a script that completes commands and flags in a shell");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash")->required()->check(CLI::IsMember({"bash"}))->type_name("SHELL");
  completion->callback([&app, &code, shell] {
    say_text(bash_completion(app));
    code = 0;
  });
  CLI::App* manual = app.add_subcommand("manual", "prints the manual page, for man")->group("");
  manual->callback([&app, &code] {
    say_text(manual_page(app, "orbweaver " ORBWEAVER_VERSION));
    code = 0;
  });
}

}  // namespace orbweaver
