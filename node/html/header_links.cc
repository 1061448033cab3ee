#include "node/html/header_links.h"

#include <algorithm>

#include "node/html/link_rules.h"
#include "node/html/tokenizer.h"

namespace orbweaver::html {
namespace {

// Takes one parameter of a link-value: name and value, a quoted value without its quotes and backslashes. False at the
// end of the link-value.
bool take_parameter(std::string_view field, std::size_t& at, std::string& name, std::string& value) {
  const auto skip = [&] {
    while (at < field.size() && (field[at] == ' ' || field[at] == '\t')) ++at;
  };
  skip();
  if (at == field.size() || field[at] != ';') return false;
  ++at;
  skip();
  const std::size_t begin = at;
  while (at < field.size() && std::string_view(" \t=;,").find(field[at]) == std::string_view::npos) ++at;
  name.assign(field.substr(begin, at - begin));
  std::transform(name.begin(), name.end(), name.begin(), to_lower_ascii);
  value.clear();
  skip();
  if (at == field.size() || field[at] != '=') return true;
  ++at;
  skip();
  if (at == field.size() || field[at] != '"') {
    while (at < field.size() && field[at] != ';' && field[at] != ',') value += field[at++];
    return true;
  }
  for (++at; at < field.size() && field[at] != '"'; ++at) {
    if (field[at] == '\\' && at + 1 < field.size()) ++at;
    value += field[at];
  }
  at = std::min(at + 1, field.size());
  return true;
}

}  // namespace

void note_link_fields(const std::vector<std::string>& values, LinkChoice choice, PageLinks& page) {
  for (const std::string& field : values) {
    for (std::size_t at = 0; at < field.size();) {
      while (at < field.size() && (is_html_space(field[at]) || field[at] == ',')) ++at;
      if (at == field.size() || field[at] != '<') break;
      const std::size_t end = field.find('>', at);
      if (end == std::string::npos) break;
      std::string href = field.substr(at + 1, end - at - 1);
      at = end + 1;
      std::string rel;
      bool has_rel = false;
      bool has_anchor = false;
      for (std::string name, value; take_parameter(field, at, name, value);) {
        if (name == "rel" && !std::exchange(has_rel, true)) rel = value;
        has_anchor = has_anchor || name == "anchor";
      }
      if (has_anchor || href.empty()) continue;
      std::optional<LinkKind> kind = kind_of_link_rel(rel);
      if (!kind) kind = resource_kind_of_link_rel(rel);
      if (!kind || !choice.has(group_of(*kind))) continue;
      if (page.links.size() >= max_links_per_page) {
        ++page.over_budget;
        continue;
      }
      page.links.push_back({std::move(href), *kind, has_token(rel, "nofollow"), true});
    }
  }
}

void note_refresh_field(std::string_view value, PageLinks& page) {
  std::optional<Refresh> refresh = parse_refresh(value);
  if (!refresh || refresh->url.empty() || page.links.size() >= max_links_per_page) return;
  page.links.push_back({std::move(refresh->url), LinkKind::refresh, false, true});
}

}  // namespace orbweaver::html
