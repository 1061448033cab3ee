// The cookies of one peer's crawl, in memory: what sites set is sent back to them and to nobody else.
//
// RFC 6265, 5: dates (5.1.1), domain and path matching (5.1.3, 5.1.4), storage (5.3), what is sent (5.4); the public
// suffix rule (5.3, step 5) by the same list as registered domains; __Secure- and __Host- names as in RFC 6265bis.
// Bounded by the least that RFC 6265, 6.1 asks of browsers, taken as the most: 4,096 bytes a cookie, 50 cookies a
// domain (each host's own apart from those of its neighbours), 3,000 in all; whichever was used longest ago makes room.
// HttpOnly and SameSite mean nothing to a crawler. A host's pages are fetched by the peer that owns it, so each peer
// keeps the cookies of its own hosts; a cookie that a site sets for its whole domain is known to the peers that it was
// set at. Pure: `now` is passed in. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/http/url_place.h"

namespace orbweaver {

class CookieJar {
 public:
  static constexpr std::size_t cookie_bytes_max = 4096;  // name, value and attributes
  static constexpr std::size_t domain_cookies_max = 50;  // with the same domain
  static constexpr std::size_t cookies_max = 3000;

  // One Set-Cookie field's value, from an answer to a request to `place`. False when it was not taken.
  bool take(const UrlPlace& place, std::string_view set_cookie, Time now);
  // The Cookie field's value for a request; empty when there is none.
  std::string header_for(const UrlPlace& place, Time now);
  std::size_t size() const { return size_; }

 private:
  struct Cookie {
    std::string name;
    std::string value;
    std::string domain;  // lower case
    std::string path;
    bool host_only = true;
    bool secure = false;
    std::optional<Time> expires;  // none: until the peer ends
    Time created{};
    std::uint64_t used = 0;  // a count that grows with each use
  };
  using Domain = std::multimap<std::string, Cookie>;  // by name
  // Of the registered domain `key`: among the cookies of `domain`, or among all when it is empty.
  void drop_oldest(const std::string& key, const std::string& domain);
  void drop_oldest_of_all();

  std::map<std::string, Domain> domains_;  // by registered domain
  std::size_t size_ = 0;
  std::uint64_t uses_ = 0;
};

// RFC 6265, 5.1.1: whatever order, separators and words; nothing when a part is missing.
std::optional<Time> parse_cookie_date(std::string_view text);

}  // namespace orbweaver
