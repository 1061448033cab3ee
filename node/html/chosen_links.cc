// A page's links apart from navigation: what elements of HTML and SVG load, cite and submit to. Both extractors use
// this. Sources: HTML standard, "attributes" index, the rows of type URL; HTML 4.01, the %URI; attributes of table
// "attributes"; SVG 2, "href".
#include <algorithm>
#include <array>
#include <utility>

#include "node/html/css.h"
#include "node/html/link_rules.h"
#include "node/html/text_links.h"

namespace orbweaver::html {
namespace {

struct Row {
  NameKey element;
  std::string_view attribute;
  LinkKind kind;
};

// Attributes with one URL each. Left out: `ping` (only for POST), `usemap` (names a part of the page), `classid` and
// `codebase` (for applets).
constexpr Row rows[] = {
    {name_key("img"), "src", LinkKind::image},
    {name_key("img"), "longdesc", LinkKind::cite},
    {name_key("audio"), "src", LinkKind::media},
    {name_key("video"), "src", LinkKind::media},
    {name_key("video"), "poster", LinkKind::image},
    {name_key("source"), "src", LinkKind::media},
    {name_key("track"), "src", LinkKind::media},
    {name_key("script"), "src", LinkKind::script},
    {name_key("embed"), "src", LinkKind::object},
    {name_key("object"), "data", LinkKind::object},
    {name_key("applet"), "archive", LinkKind::object},
    {name_key("bgsound"), "src", LinkKind::media},
    {name_key("body"), "background", LinkKind::image},
    {name_key("table"), "background", LinkKind::image},
    {name_key("thead"), "background", LinkKind::image},
    {name_key("tbody"), "background", LinkKind::image},
    {name_key("tfoot"), "background", LinkKind::image},
    {name_key("tr"), "background", LinkKind::image},
    {name_key("td"), "background", LinkKind::image},
    {name_key("th"), "background", LinkKind::image},
    {name_key("html"), "manifest", LinkKind::resource},
    {name_key("frame"), "longdesc", LinkKind::cite},
    {name_key("iframe"), "longdesc", LinkKind::cite},
    {name_key("blockquote"), "cite", LinkKind::cite},
    {name_key("q"), "cite", LinkKind::cite},
    {name_key("ins"), "cite", LinkKind::cite},
    {name_key("del"), "cite", LinkKind::cite},
    // SVG; "image" outside of it is "img" (HTML standard, 13.2.6.4.7).
    {name_key("image"), "src", LinkKind::image},
    {name_key("image"), "href", LinkKind::image},
    {name_key("image"), "xlink:href", LinkKind::image},
    {name_key("feimage"), "href", LinkKind::image},
    {name_key("feimage"), "xlink:href", LinkKind::image},
    {name_key("use"), "href", LinkKind::image},
    {name_key("use"), "xlink:href", LinkKind::image},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_html_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_html_space(text.back())) text.remove_suffix(1);
  return text;
}

// Adds a URL that loads or cites something: not an empty one, and not a part of the page itself.
void add(PageLinks& page, std::optional<std::string> value, LinkKind kind) {
  if (!value) return;
  const std::string_view text = trimmed(*value);
  if (!text.empty() && text.front() != '#') add_link(page, *std::move(value), kind);
}

void add_srcset(PageLinks& page, const std::optional<std::string>& value) {
  if (!value) return;
  for (std::string& url : parse_srcset(*value)) add_link(page, std::move(url), LinkKind::image);
}

// True for GET without data: a crawler sends no POST requests.
bool is_get(const std::optional<std::string>& method) {
  return !method || (!equals_ignoring_case(*method, "post") && !equals_ignoring_case(*method, "dialog"));
}

void note_form(NameKey element, const AttributeOf& attribute, PageLinks& page) {
  if (element == name_key("form")) {
    if (is_get(attribute("method"))) add(page, attribute("action"), LinkKind::form);
  } else if (element == name_key("button") || element == name_key("input")) {
    if (is_get(attribute("formmethod"))) add(page, attribute("formaction"), LinkKind::form);
  }
}

void note_resource(NameKey element, const AttributeOf& attribute, PageLinks& page) {
  if (element == name_key("img") || element == name_key("source") || element == name_key("image"))
    add_srcset(page, attribute("srcset"));
  if (element != name_key("input")) return;
  const std::optional<std::string> type = attribute("type");
  if (type && equals_ignoring_case(*type, "image")) add(page, attribute("src"), LinkKind::image);
}

void note_link_element(const AttributeOf& attribute, LinkChoice choice, PageLinks& page) {
  const std::optional<LinkKind> kind = resource_kind_of_link_rel(attribute("rel").value_or(""));
  if (!kind || !choice.has(group_of(*kind))) return;
  add(page, attribute("href"), *kind);
  if (choice.resources) add_srcset(page, attribute("imagesrcset"));
}

}  // namespace

std::optional<LinkKind> resource_kind_of_link_rel(std::string_view rel) {
  constexpr std::array<std::string_view, 5> icons = {"icon", "apple-touch-icon", "apple-touch-icon-precomposed",
                                                     "mask-icon", "apple-touch-startup-image"};
  constexpr std::array<std::string_view, 4> loaded = {"preload", "modulepreload", "prefetch", "manifest"};
  if (has_token(rel, "stylesheet")) return LinkKind::stylesheet;
  const auto named = [rel](std::string_view token) { return has_token(rel, token); };
  if (std::any_of(icons.begin(), icons.end(), named)) return LinkKind::icon;
  if (std::any_of(loaded.begin(), loaded.end(), named)) return LinkKind::resource;
  return std::nullopt;
}

LinkKind kind_of_anchor_rel(std::string_view rel, LinkKind otherwise) {
  if (has_token(rel, "canonical")) return LinkKind::canonical;
  if (has_token(rel, "next")) return LinkKind::next;
  if (has_token(rel, "prev")) return LinkKind::prev;
  return otherwise;
}

void note_chosen(NameKey element, const AttributeOf& attribute, LinkChoice choice, PageLinks& page) {
  if (choice.resources || choice.cites) {
    for (const Row& row : rows)
      if (row.element == element && choice.has(group_of(row.kind))) add(page, attribute(row.attribute), row.kind);
  }
  if (choice.resources) note_resource(element, attribute, page);
  if (element == name_key("link") && (choice.resources || choice.styles)) note_link_element(attribute, choice, page);
  if (choice.forms) note_form(element, attribute, page);
  if (choice.styles)
    if (const std::optional<std::string> style = attribute("style")) note_style_text(*style, page);
}

void note_style_text(std::string_view css, PageLinks& page) {
  for (CssUrl& found : css_urls(css))
    add_link(page, std::move(found.url), found.import ? LinkKind::stylesheet : LinkKind::style_url);
}

void note_script_text(std::string_view type, std::string_view text, LinkChoice choice, PageLinks& page) {
  const std::string_view essence = trimmed(type.substr(0, type.find(';')));
  if (equals_ignoring_case(essence, "application/ld+json")) {
    if (!choice.json_ld) return;
    for (std::string& url : json_ld_urls(text)) add_link(page, std::move(url), LinkKind::json_ld);
    return;
  }
  // The JavaScript types that pages use (HTML standard, 4.12.1), and JSON that is data for one.
  constexpr std::array<std::string_view, 6> scripts = {
      "", "module", "text/javascript", "application/javascript", "application/x-javascript", "application/json"};
  const bool is_script = std::any_of(scripts.begin(), scripts.end(),
                                     [&](std::string_view known) { return equals_ignoring_case(essence, known); });
  if (!choice.scripts || !is_script) return;
  for (std::string& url : script_urls(text)) add_link(page, std::move(url), LinkKind::script_text);
}

}  // namespace orbweaver::html
