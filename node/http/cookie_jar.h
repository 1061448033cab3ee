// The cookies of one site: of a host, or of a registered domain (node/crawl/site_jars.h says which). Each goes back
// only where RFC 6265 lets it go.
//
// RFC 6265, 5: dates (5.1.1), domain and path matching (5.1.3, 5.1.4), storage (5.3), what is sent (5.4); the public
// suffix rule (5.3, step 5) by the same list as registered domains; __Secure- and __Host- names as in RFC 6265bis.
// Bounded by the minimum that RFC 6265, 6.1 asks of browsers, used here as the maximum: 4,096 bytes per cookie, and 50
// cookies per domain (each host's own cookies apart from its neighbours'). A jar has at most the bytes of 50 cookies;
// the one that was set first makes room. HttpOnly and SameSite mean nothing to a crawler. A cookie without an end is
// valid as long as the crawl. Pure: `now` is passed in. Thread rule: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/http/url_place.h"

namespace orbweaver {

class CookieJar {
 public:
  static constexpr std::size_t max_cookie_bytes = 4096;  // name, value and attributes
  static constexpr std::size_t max_domain_cookies = 50;  // with the same domain
  static constexpr std::size_t max_jar_bytes = max_domain_cookies * max_cookie_bytes;
  static constexpr Time never = Time::max();

  // The value of one Set-Cookie field in the answer to a request to `place`. False when the cookie is refused.
  bool take(const UrlPlace& place, std::string_view set_cookie, Time now);
  // The Cookie field's value for a request; empty when there is none.
  std::string header_for(const UrlPlace& place, Time now) const;
  // True: some were there.
  bool drop_expired(Time now);
  std::size_t size() const { return cookies_.size(); }
  // When the last cookie expires; `never` when one has no end; the epoch when there is none.
  Time expires() const;

  // The bytes on disk and on the wire (docs/reference/formats.md). decode() gives nothing when they are malformed or
  // too many.
  std::string encode() const;
  static std::optional<CookieJar> decode(std::string_view bytes);

 private:
  struct Cookie {
    std::string name;
    std::string value;
    std::string domain;  // lower case
    std::string path;
    bool host_only = true;
    bool secure = false;
    std::optional<Time> expires;
    Time created{};
  };
  static std::size_t bytes_of(const Cookie& cookie) {
    return cookie.name.size() + cookie.value.size() + cookie.domain.size() + cookie.path.size();
  }
  void make_room(const std::string& domain);
  void erase(std::vector<Cookie>::iterator cookie);

  std::vector<Cookie> cookies_;  // the one that was set first is first
  std::size_t bytes_ = 0;        // of their texts
};

// RFC 6265, 5.1.1: any order, separators and words; nothing when a part is missing.
std::optional<Time> parse_cookie_date(std::string_view text);

}  // namespace orbweaver
