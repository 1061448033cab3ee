// robots.txt by RFC 9309, with Crawl-delay and Sitemap lines. Parses outside bytes of any kind; never fails: unreadable
// lines are skipped. Memory: about 1.2 times the bytes read (as UTF-8) at most, see bytes(). Thread rule:
// immutable once made; share freely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// Only this much of a robots.txt is read (RFC 9309, 2.5: at least 500 KiB).
inline constexpr std::size_t max_robots_bytes = 500 * 1024;
// How many rules of a group are kept, equal ones counted once; further ones are skipped and counted. The largest known
// file of a real site has 19,100 in the bytes that are read, the next one 5,000.
inline constexpr std::size_t max_robots_rules = 20'000;
// Of those, rules that search for a text after a '*': each may cost a pass over the path. Real sites have up to 1,128.
inline constexpr std::size_t max_robots_wildcards = 4'000;

class RobotsRules {
 public:
  // Keeps the group (or merged groups) that applies to `agent`, else the '*' groups. `agent` is a product token
  // ("orbweaver") or a full user-agent string ("orbweaver/1.0 (+https://...)"), whose token is used; tokens with digits
  // ("bot3") match as a whole. UTF-16 with a byte order mark is accepted too.
  static RobotsRules parse(std::string_view body, std::string_view agent);
  static RobotsRules allow_all();
  static RobotsRules disallow_all();

  struct Decision {
    bool allowed = true;
    std::uint32_t line = 0;  // 1-based line of the rule that decided; 0 when no rule matched
    std::string rule;        // "Disallow: /private*", empty when none
  };
  // `path_and_query` as in CanonicalUrl::path_and_query(); robots_pattern.h says how escapes compare. The longest match
  // wins, allow wins a tie, /robots.txt is always allowed.
  bool allowed(std::string_view path_and_query) const;
  Decision decide(std::string_view path_and_query) const;

  std::optional<Duration> crawl_delay() const { return crawl_delay_; }
  std::vector<std::string> sitemaps() const;  // as written, each once; made at each call
  bool names_sitemaps() const { return !sitemaps_.empty(); }
  const std::string& group() const {
    return group_;
  }  // the token of the user-agent line that matched: "orbweaver", "*", "" when none
  std::uint32_t group_line() const { return group_line_; }  // the first such line; 0 when none

  std::size_t size() const { return count_; }               // rules kept
  std::size_t rules_left_out() const { return left_out_; }  // of the group, beyond the two bounds
  std::size_t bytes() const;                                // of memory, this object included

 private:
  friend class RobotsParser;
  friend class RobotsRulesWriter;

  struct Rule;  // one of rules_, taken apart
  std::optional<Rule> deciding(std::string_view path_and_query) const;

  std::string rules_;     // longest first, allow before disallow of the same length; for the form see robots_rules.h
  std::string sitemaps_;  // each followed by a line feed
  std::string group_;
  std::optional<Duration> crawl_delay_;
  std::uint32_t count_ = 0;
  std::uint32_t left_out_ = 0;
  std::uint32_t group_line_ = 0;
};

// The product token of a user-agent string: the leading [A-Za-z_-]+ ("orbweaver" of "orbweaver/1.0 (+https://...)").
std::string_view product_token(std::string_view user_agent);

}  // namespace orbweaver
