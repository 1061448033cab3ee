// Where a canonical URL's requests go: scheme, host and port, read from its text without parsing it again. Pure; views
// into the URL's text. Not for URLs from outside: those go through Url::parse first.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace orbweaver {

struct UrlPlace {
  bool tls = false;
  std::string_view host;  // lower case; an IPv6 address without brackets
  std::uint16_t port = 0;
  std::string_view path;  // without query; at least "/"
};

inline UrlPlace url_place(std::string_view url) {
  UrlPlace place;
  place.tls = url.starts_with("https:");
  place.port = place.tls ? 443 : 80;
  if (const std::size_t at = url.find("://"); at != std::string_view::npos) url.remove_prefix(at + 3);
  const std::size_t end = url.find_first_of("/?#");
  std::string_view authority = url.substr(0, end);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  place.path = end == std::string_view::npos || url[end] != '/' ? std::string_view("/") : url.substr(end);
  place.path = place.path.substr(0, place.path.find_first_of("?#"));
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    std::from_chars(authority.data() + colon + 1, authority.data() + authority.size(), place.port);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) authority = authority.substr(1, authority.size() - 2);
  place.host = authority;
  return place;
}

}  // namespace orbweaver
