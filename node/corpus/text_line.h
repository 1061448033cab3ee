// A page's line of the text output (docs/how-to/corpus.md lists its fields): the page's text, its language, its date,
// its fingerprints. Thread rule: free function; the caller locks TextRepeats when several threads share one.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/html/main_text.h"
#include "node/text/repeats.h"

namespace orbweaver {

struct TextPage {
  std::string url;
  Time fetched{};
  int status = 0;
  std::string charset;
  std::string last_modified;  // of the response; empty: none
  html::PageBlocks page;      // blocks are marked; a text from a command has one block
  bool all = false;           // boilerplate stays in the text
};

// The line without "repeats"; `print`: of its text.
nlohmann::json text_line(const TextPage& page, TextPrint& print);

// Adds "repeats" to a line, as found by TextRepeats.
void note_repeat(nlohmann::json& line, const std::optional<Repeat>& repeat);

// The digest and the fingerprint of a line that text_line() made; the error says which is missing or malformed.
struct LinePrint {
  ring::Md5 digest{};
  TextPrint print;
};
Result<LinePrint> line_print(const nlohmann::json& line);

}  // namespace orbweaver
