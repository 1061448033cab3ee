#include "node/scope/site_rules.h"

#include <charconv>

#include "node/settings/settings.h"
#include "node/settings/units.h"

namespace orbweaver {

namespace {

using std::chrono::minutes;

constexpr minutes day{24 * 60};

bool read_number(std::string_view text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::optional<minutes> read_clock(std::string_view text) {
  std::uint32_t hours = 0;
  std::uint32_t rest = 0;
  const std::size_t colon = text.find(':');
  const bool read = read_number(text.substr(0, colon), hours) &&
                    (colon == std::string_view::npos || read_number(text.substr(colon + 1), rest));
  if (!read || hours > 24 || rest > 59 || hours * 60 + rest > 24 * 60) return std::nullopt;
  return minutes{hours * 60 + rest} % day;
}

Result<void> read_word(std::string_view name, std::string_view value, SiteRule& rule) {
  if (name == "delay") {
    const Result<Duration> delay = parse_duration(value);
    if (!delay) return tl::make_unexpected(delay.error());
    if (*delay < Duration{} || *delay > std::chrono::hours{24})
      return fail(ErrorCode::invalid_input, "a delay is from 0s to 24h");
    rule.delay = *delay;
    return {};
  }
  if (name == "factor") {
    std::uint32_t factor = 0;
    if (!read_number(value, factor) || factor > 100)
      return fail(ErrorCode::invalid_input, "a factor is a number from 0 to 100");
    rule.delay_factor = factor;
    return {};
  }
  if (name == "hours") {
    const std::size_t dash = std::min(value.find('-'), value.size());
    const auto from = read_clock(value.substr(0, dash));
    const auto to = dash < value.size() ? read_clock(value.substr(dash + 1)) : std::nullopt;
    if (!from || !to) return fail(ErrorCode::invalid_input, "hours are FROM-TO in UTC, as 22:00-06:00");
    rule.hours = Hours{*from, *to};
    return {};
  }
  return fail(ErrorCode::invalid_input, "'" + std::string(name) + "' is not one of delay, factor, hours");
}

bool good_pattern(std::string_view pattern) {
  if (pattern.starts_with("*.")) pattern.remove_prefix(2);
  return !pattern.empty() && pattern.find_first_of("*/:@ ") == std::string_view::npos;
}

}  // namespace

Time Hours::first_from(Time at) const {
  if (from == to) return at;
  const auto midnight = std::chrono::floor<std::chrono::days>(at);
  const auto since = at - Time(midnight);
  const bool over_midnight = to < from;
  const bool within = over_midnight ? since >= from || since < to : since >= from && since < to;
  if (within) return at;
  const Time today = Time(midnight) + from;
  return today > at ? today : today + day;
}

Result<SiteRule> parse_site_rule(std::string_view entry) {
  SiteRule rule;
  bool first = true;
  while (!entry.empty()) {
    const std::size_t space = std::min(entry.find(' '), entry.size());
    const std::string_view word = entry.substr(0, space);
    entry.remove_prefix(std::min(space + 1, entry.size()));
    if (word.empty()) continue;
    if (std::exchange(first, false)) {
      rule.pattern = word;
      continue;
    }
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      return fail(ErrorCode::invalid_input, "'" + std::string(word) + "' is not name=value");
    if (Result<void> read = read_word(word.substr(0, equals), word.substr(equals + 1), rule); !read)
      return tl::make_unexpected(read.error());
  }
  if (!good_pattern(rule.pattern))
    return fail(ErrorCode::invalid_input, "a site is a host, or *. and a host: '" + rule.pattern + "'");
  return rule;
}

SiteRules::SiteRules(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    Result<SiteRule> rule = parse_site_rule(entry);
    if (!rule) continue;
    const bool below = rule->pattern.starts_with("*.");
    std::string key = below ? rule->pattern.substr(2) : rule->pattern;
    (below ? below_ : exact_).try_emplace(std::move(key), std::move(*rule));
  }
}

const SiteRule* SiteRules::find(std::string_view host) const {
  if (const auto found = exact_.find(host); found != exact_.end()) return &found->second;
  while (!below_.empty() && !host.empty()) {
    if (const auto found = below_.find(host); found != below_.end()) return &found->second;
    host.remove_prefix(std::min(host.find('.'), host.size() - 1) + 1);
  }
  return nullptr;
}

}  // namespace orbweaver
