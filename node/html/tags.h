// An element's facts for tree construction, by its name: one small enum and a row of flags.
#pragma once

#include <cstdint>

#include "node/html/tokenizer.h"

namespace orbweaver::html {

enum class Tag : std::uint8_t {
  other,  // any element without a rule of its own
  a,
  area,
  base,
  body,
  br,
  caption,
  cell,
  col,
  description,  // dd, dt
  font,
  form,
  formatting,
  frame,
  frameset,
  head,
  head_part,
  heading,
  html,
  hr,
  iframe,
  implied,  // p, rt…: closed by what follows, so it is on the stack only in foreign content
  input,
  link,
  list_item,
  math,
  meta,
  noframes,
  not_ok,
  object,
  option,
  plaintext,
  rawtext,
  row,
  script,
  select,
  special,
  svg,
  table,
  template_,
  textarea,
  title,
  void_,
};

// Facts about an HTML element that hold wherever it is.
struct TagFacts {
  Tag tag = Tag::other;
  TextModel model = TextModel::data;  // how its content is read
  bool is_void = false;               // never has content
  bool breaks_out = false;            // its start tag ends foreign content (13.2.6.5)
  bool clears_frameset_ok = false;    // its start tag in a body rules out a <frameset> after it
  bool head_content = false;          // may come before the body without opening it
  bool special = false;               // stops the search for an unknown end tag's element (13.2.4.2)
};

const TagFacts& tag_facts(NameKey key);

}  // namespace orbweaver::html
