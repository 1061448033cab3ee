#include "node/html/tags.h"

namespace orbweaver::html {
namespace {

constexpr TagFacts plain(Tag tag) { return {.tag = tag}; }
constexpr TagFacts block(Tag tag, bool clears_frameset_ok = false) {
  return {.tag = tag, .clears_frameset_ok = clears_frameset_ok, .special = true};
}
constexpr TagFacts breaking_block(Tag tag = Tag::special, bool clears_frameset_ok = false) {
  return {.tag = tag, .breaks_out = true, .clears_frameset_ok = clears_frameset_ok, .special = true};
}
constexpr TagFacts inline_breaking(Tag tag) { return {.tag = tag, .breaks_out = true}; }
constexpr TagFacts empty(Tag tag, bool breaks_out, bool clears_frameset_ok) {
  return {.tag = tag, .is_void = true, .breaks_out = breaks_out, .clears_frameset_ok = clears_frameset_ok, .special = true};
}
constexpr TagFacts raw(Tag tag, TextModel model, bool clears_frameset_ok = false) {
  return {.tag = tag, .model = model, .clears_frameset_ok = clears_frameset_ok, .special = true};
}
constexpr TagFacts in_head(TagFacts facts) {
  facts.head_content = true;
  return facts;
}
constexpr NameKey key_of(const char* name) { return name_key(name); }

}  // namespace

TagFacts tag_facts(NameKey key) {
  switch (key) {
    case key_of("a"): return plain(Tag::a);
    case key_of("font"): return plain(Tag::font);  // breaks out with some attributes only
    case key_of("b"): case key_of("big"): case key_of("code"): case key_of("em"): case key_of("i"): case key_of("nobr"):
    case key_of("s"): case key_of("small"): case key_of("strike"): case key_of("strong"): case key_of("tt"): case key_of("u"):
      return inline_breaking(Tag::formatting);
    case key_of("ruby"): case key_of("span"): case key_of("sub"): case key_of("sup"): case key_of("var"):
      return inline_breaking(Tag::other);
    case key_of("p"): return breaking_block(Tag::implied);
    case key_of("li"): case key_of("dd"): case key_of("dt"): return breaking_block(Tag::implied, true);
    case key_of("rb"): case key_of("rp"): case key_of("rt"): case key_of("rtc"): return plain(Tag::implied);
    case key_of("option"): case key_of("optgroup"): return plain(Tag::option);
    case key_of("h1"): case key_of("h2"): case key_of("h3"): case key_of("h4"): case key_of("h5"): case key_of("h6"):
      return breaking_block(Tag::heading);
    case key_of("blockquote"): case key_of("center"): case key_of("div"): case key_of("dl"): case key_of("menu"): case key_of("ol"):
    case key_of("ul"):
      return breaking_block();
    case key_of("pre"): case key_of("listing"): return breaking_block(Tag::special, true);
    case key_of("address"): case key_of("article"): case key_of("aside"): case key_of("details"): case key_of("dir"):
    case key_of("fieldset"): case key_of("figcaption"): case key_of("figure"): case key_of("footer"): case key_of("header"):
    case key_of("hgroup"): case key_of("main"): case key_of("nav"): case key_of("search"): case key_of("section"):
    case key_of("summary"):
      return block(Tag::special);
    case key_of("button"): return block(Tag::not_ok, true);
    case key_of("form"): return block(Tag::form);
    case key_of("applet"): case key_of("marquee"): case key_of("object"): return block(Tag::object, true);
    case key_of("table"): return breaking_block(Tag::table, true);
    case key_of("caption"): return block(Tag::caption);
    case key_of("td"): case key_of("th"): return block(Tag::cell);
    case key_of("tr"): case key_of("tbody"): case key_of("tfoot"): case key_of("thead"): case key_of("colgroup"): return block(Tag::row);
    case key_of("col"): return empty(Tag::col, false, false);
    case key_of("select"): return block(Tag::select, true);
    case key_of("template"): return in_head(block(Tag::template_, true));
    case key_of("svg"): return plain(Tag::svg);
    case key_of("math"): return plain(Tag::math);
    case key_of("html"): return in_head(block(Tag::html));
    case key_of("head"): return in_head(breaking_block(Tag::head));
    case key_of("body"): return breaking_block(Tag::body, true);
    case key_of("frameset"): return block(Tag::frameset);
    case key_of("frame"): return empty(Tag::frame, false, false);
    case key_of("base"): return in_head(empty(Tag::base, false, false));
    case key_of("link"): return in_head(empty(Tag::link, false, false));
    case key_of("meta"): return in_head(empty(Tag::meta, true, false));
    case key_of("basefont"): case key_of("bgsound"): return in_head(empty(Tag::head_part, false, false));
    case key_of("noscript"): return in_head(block(Tag::head_part));
    case key_of("area"): return empty(Tag::area, false, true);
    case key_of("br"): return empty(Tag::br, true, true);
    case key_of("hr"): return empty(Tag::hr, true, true);
    case key_of("embed"): case key_of("img"): return empty(Tag::void_, true, true);
    case key_of("image"): case key_of("keygen"): case key_of("wbr"): return empty(Tag::void_, false, true);
    case key_of("param"): case key_of("source"): case key_of("track"): return empty(Tag::void_, false, false);
    case key_of("input"): return empty(Tag::input, false, false);
    case key_of("title"): return in_head(raw(Tag::title, TextModel::rcdata));
    case key_of("textarea"): return raw(Tag::textarea, TextModel::rcdata, true);
    case key_of("style"): return in_head(raw(Tag::rawtext, TextModel::rawtext));
    case key_of("xmp"): return raw(Tag::rawtext, TextModel::rawtext, true);
    case key_of("noembed"): return raw(Tag::rawtext, TextModel::rawtext);
    case key_of("iframe"): return raw(Tag::iframe, TextModel::rawtext, true);
    case key_of("noframes"): return in_head(raw(Tag::noframes, TextModel::rawtext));
    case key_of("script"): return in_head(raw(Tag::script, TextModel::script));
    case key_of("plaintext"): return raw(Tag::plaintext, TextModel::plaintext);
    default: return plain(Tag::other);
  }
}

}  // namespace orbweaver::html
