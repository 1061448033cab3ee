#include "node/robots/robots.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>
#include <vector>

#include "node/robots/robots_encoding.h"
#include "node/robots/robots_pattern.h"
#include "node/robots/robots_rules.h"

namespace orbweaver {
namespace {

// How much of a line is read; the rest is dropped.
// Eight times the longest URL that browsers accepted, as in Google's parser.
constexpr std::size_t max_line_bytes = 2083 * 8 - 1;
// A crawl-delay above this is read as this: it only has to be practically forever, and fit a Duration.
constexpr double max_crawl_delay_seconds = 366.0 * 24 * 3600;
// Sitemap lines kept; RFC 9309 has no bound, real files stay far below.
constexpr std::size_t max_sitemaps = 10'000;

enum class Key { user_agent, allow, disallow, sitemap, crawl_delay, other };

struct Spelling {
  std::string_view text;
  Key key;
};
// Spellings accepted at the start of a key: the misspelt ones are those that Google's parser accepts.
constexpr std::array<Spelling, 14> spellings{{{"user-agent", Key::user_agent},
                                              {"useragent", Key::user_agent},
                                              {"user agent", Key::user_agent},
                                              {"allow", Key::allow},
                                              {"disallow", Key::disallow},
                                              {"dissallow", Key::disallow},
                                              {"dissalow", Key::disallow},
                                              {"disalow", Key::disallow},
                                              {"diasllow", Key::disallow},
                                              {"disallaw", Key::disallow},
                                              {"sitemap", Key::sitemap},
                                              {"site-map", Key::sitemap},
                                              {"crawl-delay", Key::crawl_delay},
                                              {"crawldelay", Key::crawl_delay}}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

bool starts_with_ignoring_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && equal_ignoring_case(text.substr(0, start.size()), start);
}

bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view trim(std::string_view text) {
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

Key key_of(std::string_view text) {
  for (const Spelling& spelling : spellings) {
    if (starts_with_ignoring_case(text, spelling.text)) return spelling.key;
  }
  return Key::other;
}

bool token_char(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || c == '-'; }

// A name as people write it: a product token that may contain digits ("bot3").
std::string_view wide_token(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (token_char(text[end]) || (text[end] >= '0' && text[end] <= '9'))) ++end;
  return text.substr(0, end);
}

// The name by which groups are looked up: the token of a User-Agent's first product (RFC 9309, 2.2.1; RFC 9110,
// 10.1.5). Its version, a comment or another product may follow: "token", "token/1.0 ...", "token (...)", "token
// other/1". A name with letters outside ASCII is not a token and matches no group except '*'.
std::string_view agent_name(std::string_view agent) {
  agent = trim(agent);
  const std::string_view name = wide_token(agent);
  const std::string_view rest = agent.substr(name.size());
  const bool ends =
      rest.empty() || rest.front() == '/' || rest.front() == '(' || rest.front() == ' ' || rest.front() == '\t';
  return ends ? name : std::string_view();
}

// The value without HTML line breaks at its end: pages made by an editor and served as robots.txt contain real rules.
std::string_view without_break_tag(std::string_view value) {
  while (value.ends_with('>')) {
    const std::size_t tag = value.rfind('<');
    if (tag == std::string_view::npos || !starts_with_ignoring_case(value.substr(tag), "<br")) break;
    value = trim(value.substr(0, tag));
  }
  return value;
}

// The number that the value starts with, in seconds. "10", "0.5", "10<BR>"; nothing for words and negative numbers.
std::optional<Duration> parse_delay(std::string_view value) {
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), seconds, std::chars_format::fixed);
  if (error == std::errc::result_out_of_range)
    seconds = max_crawl_delay_seconds;
  else if (error != std::errc())
    return std::nullopt;
  if (!(seconds >= 0)) return std::nullopt;  // "nan" too
  seconds = std::min(seconds, max_crawl_delay_seconds);
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::string_view product_token(std::string_view user_agent) {
  user_agent = trim(user_agent);
  std::size_t end = 0;
  while (end < user_agent.size() && token_char(user_agent[end])) ++end;
  return user_agent.substr(0, end);
}

// One pass over the lines for one agent. Groups follow RFC 9309, 2.2.1: user-agent lines that follow each other share a
// group; the first rule closes the list; groups that name the same agent are merged. Other records never end a group
// (2.2.4).
class RobotsParser {
 public:
  explicit RobotsParser(std::string_view agent) : agent_(agent_name(agent)) {}

  RobotsRules run(std::string_view body) {
    std::string decoded;  // the text that the gathered rules point into
    body = robots::as_utf8(body.substr(0, max_robots_bytes), decoded);
    const std::size_t bytes = body.size();
    std::uint32_t number = 0;
    while (!body.empty()) {
      const std::size_t end = std::min(body.find_first_of("\r\n"), body.size());
      line(body.substr(0, std::min(end, max_line_bytes)), ++number);
      const bool crlf = end + 1 < body.size() && body[end] == '\r' && body[end + 1] == '\n';
      body.remove_prefix(std::min(body.size(), end + (crlf ? 2u : 1u)));
    }
    return finish(bytes);
  }

 private:
  // The data of one answer: the agent's own groups, or those of '*'.
  struct Group {
    bool open = false;  // the lines read now belong to it
    bool seen = false;
    std::uint32_t line = 0;  // of its first user-agent line
    std::string name;
    RobotsRulesWriter rules;
    std::optional<Duration> crawl_delay;
  };

  void line(std::string_view text, std::uint32_t number) {
    text = trim(text.substr(0, text.find('#')));
    std::size_t separator = text.find(':');
    std::string_view value;
    if (separator != std::string_view::npos) {
      value = trim(text.substr(separator + 1));
    } else {
      // "Disallow /x": accepted when there are exactly two words, as in Google's parser.
      separator = text.find_first_of(" \t");
      if (separator == std::string_view::npos) return;
      value = trim(text.substr(separator));
      if (value.find_first_of(" \t") != std::string_view::npos) return;
    }
    value = without_break_tag(value);
    const std::string_view key = trim(text.substr(0, separator));
    switch (key_of(key)) {
      case Key::user_agent:
        return user_agent(value, number);
      case Key::allow:
        return rule(true, value, number);
      case Key::disallow:
        return rule(false, value, number);
      case Key::sitemap:
        return sitemap(value);
      case Key::crawl_delay:
        return crawl_delay(value);
      case Key::other:
        break;
    }
    // A sitemap's address on a line of its own: "Sitemap:" was forgotten.
    const bool address = equal_ignoring_case(key, "http") || equal_ignoring_case(key, "https");
    if (address && value.starts_with("//") && text.find("sitemap") != std::string_view::npos) sitemap(text);
  }

  void user_agent(std::string_view value, std::uint32_t number) {
    if (rules_begun_) {
      own_.open = any_.open = false;
      rules_begun_ = false;
    }
    if (value.starts_with('*') && (value.size() == 1 || space(value[1]))) {
      any_.open = any_.seen = true;
      if (any_.line == 0) any_.line = number;
      any_.name = "*";
      return;
    }
    const std::string_view narrow = product_token(value);
    const std::string_view wide = wide_token(value);
    if (agent_.empty() || !(equal_ignoring_case(narrow, agent_) || equal_ignoring_case(wide, agent_))) return;
    own_.open = own_.seen = true;
    if (own_.line == 0) own_.line = number;
    if (own_.name.empty()) own_.name = equal_ignoring_case(wide, agent_) ? wide : narrow;
  }

  void rule(bool allow, std::string_view value, std::uint32_t number) {
    if (own_.open || any_.open) rules_begun_ = true;
    if (value.empty()) return;  // matches nothing (RFC 9309, 2.2.2)
    if (own_.open) {
      own_.rules.add(allow, value, number);
    } else if (any_.open && !own_.seen) {
      any_.rules.add(allow, value, number);
    }
  }

  void crawl_delay(std::string_view value) {
    const std::optional<Duration> delay = parse_delay(value);
    // An agent's first line counts: with "agent a, delay 1, agent b, delay 2" both are in one group, yet 2 is meant for
    // agent b.
    if (own_.open && !own_.crawl_delay) own_.crawl_delay = delay;
    if (any_.open && !any_.crawl_delay) any_.crawl_delay = delay;
  }

  void sitemap(std::string_view value) {
    if (value.empty() || sitemaps_seen_.size() >= max_sitemaps) return;
    if (sitemaps_seen_.insert(value).second) rules_.sitemaps_.append(value).append(1, '\n');
  }

  // `bytes`: the size of the body as UTF-8.
  RobotsRules finish(std::size_t bytes) {
    Group& group = own_.seen ? own_ : any_;
    rules_.crawl_delay_ = group.crawl_delay;
    rules_.group_ = std::move(group.name);
    rules_.group_line_ = group.line;
    rules_.sitemaps_.shrink_to_fit();
    const std::size_t most = bytes + bytes / 5;
    group.rules.write(most - std::min(most, rules_.sitemaps_.size()), rules_);
    return std::move(rules_);
  }

  std::string agent_;
  Group own_;
  Group any_;
  bool rules_begun_ = false;  // the open group has a rule: the next user-agent line begins another group
  std::unordered_set<std::string_view> sitemaps_seen_;
  RobotsRules rules_;
};

RobotsRules RobotsRules::parse(std::string_view body, std::string_view agent) { return RobotsParser(agent).run(body); }

RobotsRules RobotsRules::allow_all() { return {}; }

RobotsRules RobotsRules::disallow_all() { return parse("User-agent: *\nDisallow: /\n", "*"); }

std::vector<std::string> RobotsRules::sitemaps() const {
  std::vector<std::string> lines;
  for (std::string_view rest = sitemaps_; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return lines;
}

std::size_t RobotsRules::bytes() const {
  return sizeof(RobotsRules) + rules_.capacity() + sitemaps_.capacity() + group_.capacity();
}

std::optional<RobotsRules::Rule> RobotsRules::deciding(std::string_view path_and_query) const {
  if (rules_.empty() || path_and_query == "/robots.txt") return std::nullopt;
  const robots::PathForms path(path_and_query.empty() ? "/" : path_and_query);
  // Indexed by flags: allow or not, literal or not.
  const std::string_view forms[] = {path.decoded, path.ascii, path.decoded, path.literal};
  for (std::size_t at = 0; at < rules_.size();) {
    // Nearly all rules are path prefixes that do not match: only their start is compared.
    at = Rule::skip_others(rules_, at, forms);
    if (at == rules_.size()) break;
    const Rule rule = Rule::at(rules_, at);
    if (rule.matches(forms[rule.flags & (Rule::allow | Rule::literal)])) return rule;
    at = rule.end;
  }
  return std::nullopt;
}

bool RobotsRules::allowed(std::string_view path_and_query) const {
  const std::optional<Rule> rule = deciding(path_and_query);
  return !rule || rule->has(Rule::allow);
}

RobotsRules::Decision RobotsRules::decide(std::string_view path_and_query) const {
  const std::optional<Rule> rule = deciding(path_and_query);
  if (!rule) return {};
  const bool allow = rule->has(Rule::allow);
  const Rule written = rule->as_written(rules_);
  return {allow, written.line, (allow ? "Allow: " : "Disallow: ") + std::string(written.text)};
}

}  // namespace orbweaver
