#include "node/robots/robots_meta.h"

#include <algorithm>
#include <array>

#include "node/text/web_date.h"

namespace orbweaver {
namespace {

// Limit of one field or attribute; further bytes are ignored. Real ones are a few dozen bytes.
constexpr std::size_t max_content_bytes = 4096;

constexpr std::array<std::string_view, 16> words_known{"all",
                                                       "follow",
                                                       "index",
                                                       "nofollow",
                                                       "noindex",
                                                       "none",
                                                       "noarchive",
                                                       "nocache",
                                                       "nosnippet",
                                                       "noimageindex",
                                                       "notranslate",
                                                       "indexifembedded",
                                                       "max-snippet",
                                                       "unavailable_after",
                                                       "max-image-preview",
                                                       "max-video-preview"};
// These have a value after a colon; any other word with a colon is a crawler's name.
constexpr std::size_t words_with_values = 4;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

bool takes_value(std::string_view word) {
  return std::any_of(words_known.end() - words_with_values, words_known.end(),
                     [&](std::string_view known) { return same(word, known); });
}

// Dates of mails have a comma after the day of the week, which does not separate words.
bool ends_in_weekday(std::string_view rule) {
  constexpr std::array<std::string_view, 7> days{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  const std::size_t colon = rule.find(':');
  if (colon == std::string_view::npos || !same(trim(rule.substr(0, colon)), "unavailable_after")) return false;
  const std::string_view value = trim(rule.substr(colon + 1));
  return value.size() >= 3 && value.find_first_of("0123456789") == std::string_view::npos &&
         std::any_of(days.begin(), days.end(), [&](std::string_view day) { return same(value.substr(0, 3), day); });
}

// Takes one word with its value off the front.
std::string_view take_rule(std::string_view& text) {
  std::size_t end = std::min(text.find(','), text.size());
  if (ends_in_weekday(text.substr(0, end)) && end < text.size()) end = std::min(text.find(',', end + 1), text.size());
  const std::string_view rule = trim(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return rule;
}

}  // namespace

bool has_robots_word(std::string_view content) {
  content = content.substr(0, max_content_bytes);
  while (!content.empty()) {
    const std::size_t begin = content.find_first_not_of(" \t\r\n\f,;");
    if (begin == std::string_view::npos) return false;
    const std::size_t end = std::min(content.find_first_of(" \t\r\n\f,;:", begin), content.size());
    const std::string_view word = content.substr(begin, end - begin);
    if (std::any_of(words_known.begin(), words_known.end(), [&](std::string_view k) { return same(word, k); }))
      return true;
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return false;
}

void RobotsMeta::add_rule(std::string_view rule) {
  const std::size_t colon = rule.find(':');
  const std::string_view word = trim(rule.substr(0, colon));
  const std::string_view value = colon == std::string_view::npos ? std::string_view() : trim(rule.substr(colon + 1));
  if (same(word, "unavailable_after")) {
    std::optional<Time> when = parse_w3c_date(value);
    if (!when) when = parse_mail_date(value);
    if (when && (!unavailable_after || *when < *unavailable_after)) unavailable_after = when;
    return;
  }
  if (same(word, "none")) nofollow = noindex = true;
  if (same(word, "nofollow")) nofollow = true;
  if (same(word, "noindex")) noindex = true;
  if (same(word, "nosnippet") || (same(word, "max-snippet") && value == "0")) nosnippet = true;
  if (same(word, "noarchive") || same(word, "nocache")) noarchive = true;
}

void RobotsMeta::add_rules(std::string_view text, std::string_view agent, bool names_crawlers) {
  text = text.substr(0, max_content_bytes);
  bool ours = true;
  while (!text.empty()) {
    std::string_view rule = take_rule(text);
    for (std::size_t colon = rule.find(':'); names_crawlers && colon != std::string_view::npos;
         colon = rule.find(':')) {
      const std::string_view name = trim(rule.substr(0, colon));
      if (takes_value(name)) break;
      ours = same(name, "robots") || same(name, "*") || (!agent.empty() && same(name, agent));
      rule = trim(rule.substr(colon + 1));
    }
    if (!ours) continue;
    // Some pages separate words only by white space; a value may contain spaces.
    if (rule.find(':') != std::string_view::npos) {
      add_rule(rule);
      continue;
    }
    while (!rule.empty()) {
      const std::size_t end = std::min(rule.find_first_of(" \t\r\n\f;"), rule.size());
      add_rule(rule.substr(0, end));
      rule = trim(rule.substr(std::min(end + 1, rule.size())));
    }
  }
}

void RobotsMeta::add_header(std::string_view value, std::string_view agent) { add_rules(value, agent, true); }

void RobotsMeta::add_meta(std::string_view name, std::string_view content, std::string_view agent) {
  name = trim(name);
  if (same(name, "robots") || (!agent.empty() && same(name, agent))) add_rules(content, agent, false);
}

std::vector<std::string> RobotsMeta::words() const {
  std::vector<std::string> words;
  if (noindex) words.emplace_back("noindex");
  if (nofollow) words.emplace_back("nofollow");
  if (nosnippet) words.emplace_back("nosnippet");
  if (noarchive) words.emplace_back("noarchive");
  return words;
}

}  // namespace orbweaver
