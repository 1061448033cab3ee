// All output of commands and the crawler for people. It may contain text from outside (URLs, rules of a robots.txt,
// names that another peer sent), so all of it goes through here: no foreign text reaches a terminal as an escape
// sequence. tests/house_rules.py keeps printf and std::cout out of the commands. Thread rule: any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace orbweaver {

// Writes to standard output like printf. Line feeds and tabs are kept; other unprintable characters are escaped
// (node/text/printable.h).
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);
void say_text(std::string_view text);
// As JSON with an indent of two spaces and a final line feed; -1: on one line.
void say_json(const nlohmann::json& value, int indent = 2);

// Writes "orbweaver: …" and a line feed to standard error, escaped in the same way.
[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...);

// Writes to standard error; only unprintable characters are changed.
void say_aside(std::string_view text);

// A line on standard error. On a terminal the next such line overwrites it; elsewhere it is an ordinary line.
void say_progress(std::string_view line);
void end_progress();

// Whether standard output still accepts output.
bool can_say();
// Whether everything sent to standard output was written.
bool all_said();

}  // namespace orbweaver
