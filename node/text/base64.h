// Base64 (RFC 4648, section 4), decoded. Pure. Thread rule: a function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace orbweaver {

// Padding may be missing. Nothing: a character is not of the alphabet.
std::optional<std::string> base64_decoded(std::string_view text);

}  // namespace orbweaver
