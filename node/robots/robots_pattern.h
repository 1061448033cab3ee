// The forms in which robots.txt rules and URLs are compared, and the comparison. Pure functions; any bytes.
//
// RFC 9309, 2.2.2: bytes outside ASCII are compared percent-encoded, escapes of unreserved characters are decoded.
// Google's parser does neither to a URL and decodes nothing in a rule. One rule combines the two and, in doubt, does
// not fetch:
//   - a Disallow rule is compared as the RFC says;
//   - an Allow rule that escapes a letter or digit ("%62", which was never necessary; "%7E" for '~' once was, RFC
//     1738, 2.2) is compared as written. A URL with raw bytes outside ASCII satisfies no Allow rule that names them.
//     Such a text is not a URL:
//     a CanonicalUrl never has such bytes.
// In both, "%2A" and "%24" of a rule match '*' and '$' of a URL (RFC 9309, 2.2.3).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orbweaver::robots {

// A URL's path and query in the three forms that rules are compared with. For most URLs all three are the text itself:
// then nothing is copied. `path_and_query` must outlive it.
struct PathForms {
  explicit PathForms(std::string_view path_and_query);
  PathForms(const PathForms&) = delete;
  std::string_view decoded;  // as RFC 9309 says: for Disallow
  std::string_view ascii;    // the same, but raw bytes outside ASCII left raw: for Allow
  // Escapes kept, only their hex digits in upper case: for Allow rules with needless escapes.
  std::string_view literal;

 private:
  std::string made_[3];
};

// Whether this byte is unchanged in all forms, of paths and of rules.
bool stands_as_written(char c);
// A rule's value in the form used for comparison; '*' and a last '$' stay special.
std::string normalise_pattern(std::string_view value, bool decode_unreserved);
// Whether the value escapes an ASCII letter or digit.
bool escapes_alphanumeric(std::string_view value);
// Bytes of the value; each byte outside ASCII counts as the three of its escape.
std::size_t pattern_octets(std::string_view value);

// Whether the pattern matches the start of `text` ('*': any run of bytes; a last '$': the end).
// Each part between stars is matched at its first place only: time O(text + pattern).
bool matches(std::string_view pattern, std::string_view text);

}  // namespace orbweaver::robots
