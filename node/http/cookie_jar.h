// The cookies of one peer's crawl, in memory: each goes back only to the site that set it.
//
// RFC 6265, 5: dates (5.1.1), domain and path matching (5.1.3, 5.1.4), storage (5.3), what is sent (5.4); the public
// suffix rule (5.3, step 5) by the same list as registered domains; __Secure- and __Host- names as in RFC 6265bis.
// Bounded by the minimum that RFC 6265, 6.1 asks of browsers, used here as the maximum: 4,096 bytes per cookie, 50
// cookies per domain (each host's own cookies apart from its neighbours'), 3,000 in total; the least recently used
// makes room. HttpOnly and SameSite mean nothing to a crawler. The peer that owns a host fetches its pages, so each
// peer keeps the cookies of its own hosts; a cookie that a site sets for its whole domain is known only to the peers
// where it was set. Pure: `now` is passed in. Thread rule: one owner.
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
  static constexpr std::size_t max_cookie_bytes = 4096;  // name, value and attributes
  static constexpr std::size_t max_domain_cookies = 50;  // with the same domain
  static constexpr std::size_t max_cookies = 3000;

  // The value of one Set-Cookie field in the answer to a request to `place`. False when the cookie is refused.
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
    std::optional<Time> expires;  // none: valid until the peer ends
    Time created{};
    std::uint64_t used = 0;  // a count that grows with each use
  };
  using Domain = std::multimap<std::string, Cookie>;  // by name
  // For the registered domain `key`: drops among the cookies of `domain`, or among all when it is empty.
  void drop_oldest(const std::string& key, const std::string& domain);
  void drop_oldest_of_all();

  std::map<std::string, Domain> domains_;  // by registered domain
  std::size_t size_ = 0;
  std::uint64_t uses_ = 0;
};

// RFC 6265, 5.1.1: any order, separators and words; nothing when a part is missing.
std::optional<Time> parse_cookie_date(std::string_view text);

}  // namespace orbweaver
