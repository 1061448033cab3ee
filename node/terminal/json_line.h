// Reading JSON lines from outside: bounded lines, and JSON strings as JavaScript writes them.
// Thread rule: free functions.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace orbweaver {

// Reads up to '\n' (not kept). Of a line longer than `bytes_max` only the first bytes_max + 1 bytes are kept, so that
// the caller sees that it is too long and memory stays bounded. False at the end of the input.
bool read_line(std::istream& in, std::string& line, std::size_t bytes_max);

// Parses one JSON text. JSON may escape half of a surrogate pair ("\ud800"), which is no character: it is read as
// U+FFFD, as the URL and Encoding standards do. Nothing when the text is not JSON.
std::optional<nlohmann::json> parse_json(std::string_view text);

}  // namespace orbweaver
