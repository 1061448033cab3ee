// Makes text from outside safe for a terminal or a line of a log: no control character, no escape sequence, no mark
// that changes the direction of writing, no broken UTF-8. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orbweaver {

// What is escaped in addition to unprintable characters.
enum class Escape : std::uint8_t {
  none,    // line feeds and tabs are kept: a text of lines
  breaks,  // line feeds and tabs too: a value within a line
  quotes,  // and '"' and '\\': a value between quotes
};

// Appends `text` with unprintable characters as \n, \t, \r or \xNN for each byte; true when something was escaped. It
// escapes C0 and C1 controls (ESC, BEL, CSI), DEL, line and paragraph separators, the marks of Unicode TR 36 that
// change the direction of writing, and bytes that are not UTF-8.
bool append_printable(std::string& out, std::string_view text, Escape escape);

// For one value: Escape::breaks.
std::string printable(std::string_view text);

// The same for a JSON text, which stays JSON with the same meaning: \uNNNN.
std::string printable_json(std::string_view json);

}  // namespace orbweaver
