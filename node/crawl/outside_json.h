// JSON that others wrote: questions and answers, and what of them is stored. Nesting is bounded before anything is
// built, so that no later walk over it can run out of stack; a field of the wrong type is an error that names it. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// Arrays and objects within one another; ours need 5.
inline constexpr std::size_t json_depth_max = 32;

// An object. An error (invalid_input) for anything else, for text that is not JSON or not UTF-8, and for nesting deeper
// than json_depth_max. Memory: some 40 bytes for each byte of the text at most.
Result<nlohmann::json> parse_outside_json(std::string_view text);

// On one line; what is not UTF-8 in it becomes U+FFFD. Never throws for what it holds.
std::string json_text(const nlohmann::json& value);

// Fields of an object: the fallback when there is none, an error (invalid_input) when it has another type, or the
// number is out of bounds.
Result<std::string> text_field(const nlohmann::json& object, std::string_view name);  // fallback: ""
Result<bool> flag_field(const nlohmann::json& object, std::string_view name);         // fallback: false
Result<std::int64_t> number_field(const nlohmann::json& object, std::string_view name, std::int64_t fallback,
                                  std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                                  std::int64_t most = std::numeric_limits<std::int64_t>::max());
// The elements of an array; fallback: none.
Result<std::vector<nlohmann::json>> list_field(const nlohmann::json& object, std::string_view name);

}  // namespace orbweaver
