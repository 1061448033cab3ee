#include "node/html/link_rules.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "node/html/tokenizer.h"
#include "node/robots/robots_meta.h"

namespace orbweaver::html {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view skip_spaces(std::string_view text) {
  const auto* begin = std::find_if_not(text.begin(), text.end(), is_html_space);
  return text.substr(static_cast<std::size_t>(begin - text.begin()));
}

std::string_view trimmed(std::string_view text) {
  text = skip_spaces(text);
  while (!text.empty() && is_html_space(text.back())) text.remove_suffix(1);
  return text;
}

// Calls `see` with each piece of `text` between separator characters.
template <class IsSeparator, class See>
void each_piece(std::string_view text, IsSeparator is_separator, See see) {
  const auto* p = text.begin();
  while (p != text.end()) {
    const auto* const begin = std::find_if_not(p, text.end(), is_separator);
    p = std::find_if(begin, text.end(), is_separator);
    if (p != begin) see(std::string_view(begin, static_cast<std::size_t>(p - begin)));
  }
}

// The part after the time: both "url = 'x' y" and plain x give x.
std::string_view refresh_url(std::string_view input) {
  const std::string_view whole = input;
  if (!input.empty() && to_lower_ascii(input[0]) == 'u') {
    if (input.size() < 3 || to_lower_ascii(input[1]) != 'r' || to_lower_ascii(input[2]) != 'l') return whole;
    input = skip_spaces(input.substr(3));
    if (input.empty() || input[0] != '=') return whole;
    input = skip_spaces(input.substr(1));
  }
  if (input.empty() || (input[0] != '"' && input[0] != '\'')) return input;
  const char quote = input[0];
  input.remove_prefix(1);
  return input.substr(0, input.find(quote));
}

}  // namespace

std::optional<Refresh> parse_refresh(std::string_view content) {
  std::string_view input = skip_spaces(content);
  if (input.empty() || (!is_digit(input[0]) && input[0] != '.')) return std::nullopt;
  Refresh refresh;
  std::uint64_t seconds = 0;
  while (!input.empty() && is_digit(input[0])) {
    seconds = std::min<std::uint64_t>(seconds * 10 + static_cast<std::uint64_t>(input[0] - '0'),
                                      std::numeric_limits<std::uint32_t>::max());
    input.remove_prefix(1);
  }
  refresh.delay_seconds = static_cast<std::uint32_t>(seconds);
  while (!input.empty() && (is_digit(input[0]) || input[0] == '.')) input.remove_prefix(1);
  if (input.empty()) return refresh;
  if (input[0] != ';' && input[0] != ',' && !is_html_space(input[0])) return std::nullopt;
  input = skip_spaces(input);
  if (!input.empty() && (input[0] == ';' || input[0] == ',')) input.remove_prefix(1);
  refresh.url = refresh_url(skip_spaces(input));
  return refresh;
}

bool has_token(std::string_view tokens, std::string_view lower) {
  bool found = false;
  each_piece(tokens, is_html_space, [&](std::string_view t) { found = found || equals_ignoring_case(t, lower); });
  return found;
}

std::optional<LinkKind> kind_of_link_rel(std::string_view rel) {
  std::optional<LinkKind> kind;
  bool is_stylesheet = false;
  each_piece(rel, is_html_space, [&](std::string_view token) {
    if (equals_ignoring_case(token, "stylesheet")) is_stylesheet = true;
    if (kind) return;
    if (equals_ignoring_case(token, "canonical")) kind = LinkKind::canonical;
    if (equals_ignoring_case(token, "alternate")) kind = LinkKind::alternate;
    if (equals_ignoring_case(token, "next")) kind = LinkKind::next;
    if (equals_ignoring_case(token, "prev")) kind = LinkKind::prev;
  });
  return is_stylesheet ? std::nullopt : kind;
}

void note_meta_robots(std::string_view name, std::string_view content, PageLinks& page) {
  if (!name.empty() && page.robots_tags.size() < max_robots_tags && has_robots_word(content))
    page.robots_tags.push_back({std::string(name), std::string(content)});
  if (!equals_ignoring_case(trimmed(name), "robots")) return;
  each_piece(
      content, [](char c) { return c == ',' || is_html_space(c); },
      [&](std::string_view rule) {
        const bool none = equals_ignoring_case(rule, "none");
        if (none || equals_ignoring_case(rule, "nofollow")) page.meta_nofollow = true;
        if (none || equals_ignoring_case(rule, "noindex")) page.meta_noindex = true;
      });
}

void note_meta_refresh(std::string_view http_equiv, std::string_view content, PageLinks& page) {
  if (!equals_ignoring_case(http_equiv, "refresh")) return;
  auto refresh = parse_refresh(content);
  // Without a URL it reloads the page itself, whatever <base> says, so it is not a link.
  if (refresh && !refresh->url.empty()) add_link(page, std::move(refresh->url), LinkKind::refresh);
}

void add_link(PageLinks& page, std::string href, LinkKind kind, bool nofollow) {
  if (page.links.size() >= max_links_per_page || page.href_bytes >= max_href_bytes) {
    ++page.over_budget;
    return;
  }
  page.href_bytes += href.size();
  page.links.push_back({std::move(href), kind, nofollow, false});
}

}  // namespace orbweaver::html
