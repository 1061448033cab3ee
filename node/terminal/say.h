// What commands and the crawler say to people. All of it may hold text from outside (URLs, rules of a robots.txt, names
// that another peer told), so all of it goes through here: nothing that a stranger wrote reaches a terminal as an
// escape sequence. tests/house_rules.py keeps printf and std::cout out of the commands. Thread rule: any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace orbweaver {

// To standard output, as printf does; line feeds and tabs are kept, what else cannot be printed is escaped
// (node/text/printable.h).
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);
void say_text(std::string_view text);
// As JSON with two blanks of indent and a line feed at the end; -1: on one line.
void say_json(const nlohmann::json& value, int indent = 2);

// "orbweaver: …" and a line feed, to standard error. Escaped likewise.
[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...);

// To standard error, as it is but for what cannot be printed.
void say_aside(std::string_view text);

// A line on standard error that the next one takes the place of, on a terminal; elsewhere a line like any other.
void say_progress(std::string_view line);
void end_progress();

// Whether standard output still takes what is said.
bool can_say();
// Whether all that was said to standard output could be written.
bool all_said();

}  // namespace orbweaver
