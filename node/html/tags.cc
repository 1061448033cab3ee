#include "node/html/tags.h"

#include <algorithm>
#include <array>
#include <string_view>

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
  return {
      .tag = tag, .is_void = true, .breaks_out = breaks_out, .clears_frameset_ok = clears_frameset_ok, .special = true};
}
constexpr TagFacts raw(Tag tag, TextModel model, bool clears_frameset_ok = false) {
  return {.tag = tag, .model = model, .clears_frameset_ok = clears_frameset_ok, .special = true};
}
constexpr TagFacts in_head(TagFacts facts) {
  facts.head_content = true;
  return facts;
}
struct Row {
  std::string_view names;  // separated by single spaces
  TagFacts facts;
};

constexpr Row rows[] = {
    {"a", plain(Tag::a)},
    {"font", plain(Tag::font)},
    {"b big code em i nobr s small strike strong tt u", inline_breaking(Tag::formatting)},
    {"ruby span sub sup var", inline_breaking(Tag::other)},
    {"p", breaking_block(Tag::implied)},
    {"li", breaking_block(Tag::list_item, true)},
    {"dd dt", breaking_block(Tag::description, true)},
    {"rb rp rt rtc", plain(Tag::implied)},
    {"option optgroup", plain(Tag::option)},
    {"h1 h2 h3 h4 h5 h6", breaking_block(Tag::heading)},
    {"blockquote center div dl menu ol ul", breaking_block()},
    {"pre listing", breaking_block(Tag::special, true)},
    {"address article aside details dir fieldset figcaption figure footer header hgroup main nav search section "
     "summary",
     block(Tag::special)},
    {"button", block(Tag::not_ok, true)},
    {"form", block(Tag::form)},
    {"applet marquee object", block(Tag::object, true)},
    {"table", breaking_block(Tag::table, true)},
    {"caption", block(Tag::caption)},
    {"td th", block(Tag::cell)},
    {"tr tbody tfoot thead colgroup", block(Tag::row)},
    {"col", empty(Tag::col, false, false)},
    {"select", block(Tag::select, true)},
    {"template", in_head(block(Tag::template_, true))},
    {"svg", plain(Tag::svg)},
    {"math", plain(Tag::math)},
    {"html", in_head(block(Tag::html))},
    {"head", in_head(breaking_block(Tag::head))},
    {"body", breaking_block(Tag::body, true)},
    {"frameset", block(Tag::frameset)},
    {"frame", empty(Tag::frame, false, false)},
    {"base", in_head(empty(Tag::base, false, false))},
    {"link", in_head(empty(Tag::link, false, false))},
    {"meta", in_head(empty(Tag::meta, true, false))},
    {"basefont bgsound", in_head(empty(Tag::head_part, false, false))},
    {"noscript", in_head(block(Tag::head_part))},
    {"area", empty(Tag::area, false, true)},
    {"br", empty(Tag::br, true, true)},
    {"hr", empty(Tag::hr, true, true)},
    {"embed img", empty(Tag::void_, true, true)},
    {"image keygen wbr", empty(Tag::void_, false, true)},
    {"param source track", empty(Tag::void_, false, false)},
    {"input", empty(Tag::input, false, false)},
    {"title", in_head(raw(Tag::title, TextModel::rcdata))},
    {"textarea", raw(Tag::textarea, TextModel::rcdata, true)},
    {"style", in_head(raw(Tag::rawtext, TextModel::rawtext))},
    {"xmp", raw(Tag::rawtext, TextModel::rawtext, true)},
    {"noembed", raw(Tag::rawtext, TextModel::rawtext)},
    {"iframe", raw(Tag::iframe, TextModel::rawtext, true)},
    {"noframes", in_head(raw(Tag::noframes, TextModel::rawtext))},
    {"script", in_head(raw(Tag::script, TextModel::script))},
    {"plaintext", raw(Tag::plaintext, TextModel::plaintext)},
};

// Open addressing in a power of two, more than four times the number of names: nearly every look-up needs one probe.
constexpr std::size_t slots = 512;
struct Slot {
  NameKey key = 0;  // 0 is not the key of any name
  TagFacts facts;
};

constexpr std::size_t slot_of(NameKey key) { return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15) >> 55); }

constexpr std::array<Slot, slots> make_table() {
  std::array<Slot, slots> table{};
  for (const Row& row : rows) {
    for (std::size_t at = 0; at < row.names.size();) {
      const std::size_t space = std::min(row.names.find(' ', at), row.names.size());
      const NameKey key = name_key(row.names.substr(at, space - at));
      std::size_t slot = slot_of(key);
      while (table[slot].key != 0) slot = (slot + 1) % slots;
      table[slot] = {key, row.facts};
      at = space + 1;
    }
  }
  return table;
}

constexpr std::array<Slot, slots> table = make_table();
constexpr TagFacts no_facts;

}  // namespace

const TagFacts& tag_facts(NameKey key) {
  for (std::size_t slot = slot_of(key); table[slot].key != 0; slot = (slot + 1) % slots) {
    if (table[slot].key == key) return table[slot].facts;
  }
  return no_facts;
}

}  // namespace orbweaver::html
