// A header line for one site's requests, as the setting site_headers has it: "docs.example Authorization: Basic …".
//
// It belongs to one origin (RFC 6454: scheme, host and port) and is never sent to another. A bare host means https, so
// that a possible password is not sent in clear text unless http:// is spelled out. Pure; values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

struct SiteHeader {
  bool tls = true;
  std::string host;  // lower case, IPv6 without brackets
  std::uint16_t port = 443;
  std::string name;
  std::string value;
};

// "HOST[:PORT] Name: value" or "http[s]://HOST[:PORT] Name: value". The error says what is wrong; it does not repeat
// the value.
Result<SiteHeader> parse_site_header(std::string_view text);

// How people can contact the operator of the crawler.
// The fault of a contact text, or empty when it is an http(s) URL or a mail address, in visible ASCII.
std::string contact_problem(std::string_view text);
// The User-Agent header: "orbweaver/0.1 (+https://example.org/bot)".
std::string user_agent_with(std::string_view user_agent, std::string_view contact);
// Whether the two contain a contact.
bool names_contact(std::string_view user_agent, std::string_view contact);

}  // namespace orbweaver
