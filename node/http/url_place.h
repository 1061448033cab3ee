// Where a URL's requests are sent. Pure; views into the URL, which outlives it.
#pragma once

#include <cstdint>
#include <string_view>

#include "node/url/canonical_url.h"

namespace orbweaver {

struct UrlPlace {
  bool tls = false;
  std::string_view host;  // lower case; an IPv6 address without brackets
  std::uint16_t port = 0;
  std::string_view path;  // without query; always begins with "/"
};

inline UrlPlace place_of(const CanonicalUrl& url) {
  return {.tls = url.is_https(), .host = url.bare_host(), .port = url.port(), .path = url.path()};
}
UrlPlace place_of(CanonicalUrl&& url) = delete;

}  // namespace orbweaver
