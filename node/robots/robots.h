// robots.txt by RFC 9309, with Crawl-delay and Sitemap lines. Parses outside bytes of any kind; never fails: what
// cannot be read is skipped. Thread rule: immutable once made; share freely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// Only this much of a robots.txt is read (RFC 9309, 2.5: at least 500 KiB).
inline constexpr std::size_t robots_bytes_max = 500 * 1024;

class RobotsRules {
 public:
  // Keeps the group (or merged groups) that applies to `agent`, else the '*' groups. `agent` is a product token
  // ("orbweaver") or a full user-agent string ("orbweaver/1.0 (+https://...)"), of which the token is taken; tokens
  // with digits ("bot3") match as a whole. UTF-16 with a byte order mark is read too.
  static RobotsRules parse(std::string_view body, std::string_view agent);
  static RobotsRules allow_all();
  static RobotsRules disallow_all();

  struct Decision {
    bool allowed = true;
    std::uint32_t line = 0;  // 1-based line of the rule that decided; 0 when no rule matched
    std::string rule;        // "Disallow: /private*", empty when none
  };
  // `path_and_query` as in CanonicalUrl::path_and_query(); how escapes compare is said in robots_pattern.h. Longest
  // match wins, allow wins a tie, /robots.txt is always allowed.
  bool allowed(std::string_view path_and_query) const;
  Decision decide(std::string_view path_and_query) const;

  std::optional<Duration> crawl_delay() const { return crawl_delay_; }
  const std::vector<std::string>& sitemaps() const { return sitemaps_; }
  const std::string& group() const {
    return group_;
  }  // the user-agent line's token that matched: "orbweaver", "*", "" when none
  std::uint32_t group_line() const { return group_line_; }  // that line, the first of them; 0 when none

 private:
  friend class RobotsParser;

  struct Rule {
    bool allow = false;
    bool literal = false;  // compared without decoding escapes (see robots_pattern.h)
    std::uint32_t line = 0;
    std::uint32_t octets = 0;  // length that decides which match is longest: the value with non-ASCII octets escaped
    std::string pattern;       // in the form that is compared
    std::string text;          // as written
  };
  const Rule* deciding(std::string_view path_and_query) const;  // null: none matches
  std::vector<Rule> rules_;  // longest first, allow before disallow of the same length
  std::optional<Duration> crawl_delay_;
  std::vector<std::string> sitemaps_;
  std::string group_;
  std::uint32_t group_line_ = 0;
};

// The product token of a user-agent string: the leading [A-Za-z_-]+ ("orbweaver" of "orbweaver/1.0 (+https://...)").
std::string_view product_token(std::string_view user_agent);

}  // namespace orbweaver
