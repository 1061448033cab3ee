// Internationalised domain names through ICU: the only code for IDNA.
//
// The URL standard's "domain to ASCII" for names with non-ASCII characters: UTS #46, nontransitional, CheckBidi,
// CheckJoiners, without CheckHyphens, VerifyDnsLength and UseSTD3ASCIIRules. ASCII names never get here: the standard
// takes them unchanged, with "xn--" labels unchecked, since real sites use labels that UTS #46 refuses (URL standard,
// "domain parser", note). Thread rule: free function;
// ICU's handle is opened once per process and immutable. Cost: a few microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orbweaver {

// Longer names are refused unread: ICU's punycode is quadratic in a label's length, and DNS ends at 253 bytes.
inline constexpr std::size_t max_idna_input_bytes = 2048;

// The name in lower-case ASCII, labels punycoded where needed; nothing when UTS #46 refuses it. `domain` is well-formed
// UTF-8.
std::optional<std::string> idna_to_ascii(std::string_view domain);

}  // namespace orbweaver
