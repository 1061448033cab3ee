// Reading untrusted JSON lines: lines are bounded, JSON strings are as JavaScript writes them.
// Thread rule: free functions.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace orbweaver {

// Reads up to '\n' (not kept). Of a line longer than `max_bytes` only the first max_bytes + 1 bytes are kept: the
// caller sees that it is too long, and memory stays bounded. False at the end of the input.
bool read_line(std::istream& in, std::string& line, std::size_t max_bytes);

// Parses one JSON text. JSON may escape half of a surrogate pair ("\ud800"), which is not a character. It is read as
// U+FFFD, as in the URL and Encoding standards. Nothing when the text is not JSON.
std::optional<nlohmann::json> parse_json(std::string_view text);

}  // namespace orbweaver
