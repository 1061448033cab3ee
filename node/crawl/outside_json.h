// JSON that others wrote: questions and answers, and the parts of them that are stored. Nesting and the number of
// values are bounded before anything is built, so that no later walk over it can run out of stack, and a short text
// does not become much memory. A field of the wrong type is an error that names it. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

// Maximum nesting of arrays and objects; our own JSON needs 5.
inline constexpr std::size_t max_json_depth = 32;

// Values and names of fields in one text. The largest of ours is the status of a peer that knows 4,096 members: 62,000.
inline constexpr std::size_t max_json_values = 131'072;
// For what only a command reads, on its user's terminal: as many as a message has room for.
inline constexpr std::size_t json_values_any = std::numeric_limits<std::size_t>::max();

// An object. An error (invalid_input) for anything else, for text that is not JSON or not UTF-8, for nesting deeper
// than max_json_depth, and for more values than `max_values`. Memory: that of the text, and about 150 bytes for each
// value at most.
Result<nlohmann::json> parse_outside_json(std::string_view text, std::size_t max_values = max_json_values);

// On one line; bytes that are not UTF-8 become U+FFFD. Never throws because of its content.
std::string json_text(const nlohmann::json& value);

// Fields of an object: the fallback when there is none, an error (invalid_input) when it has another type, or the
// number is out of bounds.
Result<std::string> text_field(const nlohmann::json& object, std::string_view name);  // fallback: ""
Result<bool> flag_field(const nlohmann::json& object, std::string_view name);         // fallback: false
Result<std::int64_t> number_field(const nlohmann::json& object, std::string_view name, std::int64_t fallback,
                                  std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                                  std::int64_t most = std::numeric_limits<std::int64_t>::max());
// The elements of an array, where they are in `object`; fallback: none.
Result<std::span<const nlohmann::json>> list_field(const nlohmann::json& object, std::string_view name);

}  // namespace orbweaver
