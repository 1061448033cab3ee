#include "node/html/tree_context.h"

#include <algorithm>
#include <utility>

#include "node/html/quirks.h"

namespace orbweaver::html {
namespace {

// Foreign elements that have rules of their own, by name (13.2.4.2, 13.2.6.5).
bool is_math_text(NameKey key) {
  return key == name_key("mi") || key == name_key("mo") || key == name_key("mn") || key == name_key("ms") ||
         key == name_key("mtext");
}
bool is_svg_integration(NameKey key) {
  return key == name_key("foreignobject") || key == name_key("desc") || key == name_key("title");
}

bool attribute_is(const Token& token, NameKey name, std::string_view lower) {
  const std::string_view* raw = token.attribute(name);
  if (raw == nullptr) return false;
  std::string value;
  decode_attribute(*raw, value);
  return equals_ignoring_case(value, lower);
}

bool is_annotation_with_html(const Token& token) {
  return attribute_is(token, name_key("encoding"), "text/html") ||
         attribute_is(token, name_key("encoding"), "application/xhtml+xml");
}

bool breaks_out(const Token& token, const TagFacts& facts) {
  if (facts.breaks_out) return true;
  return facts.tag == Tag::font &&
         (token.attribute(name_key("color")) != nullptr || token.attribute(name_key("face")) != nullptr ||
          token.attribute(name_key("size")) != nullptr);
}

bool is_formatting(Tag tag) { return tag == Tag::formatting || tag == Tag::font || tag == Tag::a; }

// Start tags that end an open <p> (13.2.6.4.7); in quirks mode <table> does not.
bool closes_paragraph(const TagFacts& facts) {
  switch (facts.tag) {
    case Tag::special:
    case Tag::heading:
    case Tag::form:
    case Tag::list_item:
    case Tag::description:
    case Tag::plaintext:
    case Tag::hr:
    case Tag::table:
      return true;
    case Tag::implied:
      return facts.special;  // p
    default:
      return false;
  }
}

// Start tags before which formatting elements are opened again: the tags of inline elements.
bool reopens_formatting(const TagFacts& facts) {
  switch (facts.tag) {
    case Tag::a:
    case Tag::area:
    case Tag::br:
    case Tag::font:
    case Tag::formatting:
    case Tag::input:
    case Tag::not_ok:
    case Tag::object:
    case Tag::option:
    case Tag::other:
    case Tag::select:
    case Tag::void_:
    case Tag::svg:
    case Tag::math:
      return true;
    default:
      return false;
  }
}

bool closes_select_in_table(NameKey key, Tag tag) {
  return tag == Tag::table || tag == Tag::caption || tag == Tag::cell ||
         (tag == Tag::row && key != name_key("colgroup"));
}

}  // namespace

TreeContext::Verdict TreeContext::start_tag(const Token& token) {
  if (mode_ == Mode::document && in_foreign_content() && !html_rules_apply_to_start(token.key)) {
    return foreign_start(token);
  }
  const TagFacts& facts = tag_facts(token.key);
  if (mode_ != Mode::document) return frameset_start(token, facts);
  if (in_select_) return select_start(token, facts);
  return html_start(token, facts);
}

bool TreeContext::html_rules_apply_to_start(NameKey key) const {
  const Open& top = stack_.back();
  if (top.html_integration) return true;
  if (top.math_text) return key != name_key("mglyph") && key != name_key("malignmark");
  return top.is_math && top.key == name_key("annotation-xml") && key == name_key("svg");
}

// In a frameset only frames and noframes count (13.2.6.4.20, .21).
TreeContext::Verdict TreeContext::frameset_start(const Token& token, const TagFacts& facts) {
  Verdict verdict{.tag = facts.tag};
  if (facts.tag == Tag::noframes) verdict.model = facts.model;
  if (mode_ == Mode::after_frameset) return verdict;
  if (facts.tag == Tag::frame) verdict.inserted = true;
  if (token.key == name_key("frameset")) ++frameset_depth_;
  return verdict;
}

TreeContext::Verdict TreeContext::foreign_start(const Token& token) {
  const TagFacts& facts = tag_facts(token.key);
  if (breaks_out(token, facts)) {
    leave_foreign_content();
    return html_start(token, facts);
  }
  const bool is_math = stack_.back().is_math;
  if (!token.self_closing) push_foreign(token, is_math);
  return {.tag = facts.tag, .inserted = false, .model = TextModel::data, .svg = !is_math && template_depth_ == 0};
}

void TreeContext::leave_foreign_content() {
  while (in_foreign_content() && !stack_.back().html_integration && !stack_.back().math_text) stack_.pop_back();
}

// "In select" (13.2.6.4.16, .17): nearly everything is dropped.
TreeContext::Verdict TreeContext::select_start(const Token& token, const TagFacts& facts) {
  const bool leaves = facts.tag == Tag::input || facts.tag == Tag::textarea || token.key == name_key("keygen") ||
                      (select_in_table_ && closes_select_in_table(token.key, facts.tag));
  if (leaves) {
    leave_select();
    return html_start(token, facts);
  }
  if (facts.tag == Tag::script || facts.tag == Tag::template_) return html_start(token, facts);
  if (facts.tag == Tag::select) leave_select();
  return {.tag = facts.tag};
}

void TreeContext::leave_select() {
  while (!stack_.empty() && stack_.back().tag != Tag::select) stack_.pop_back();
  if (!stack_.empty()) stack_.pop_back();
  in_select_ = false;
}

void TreeContext::open_body() {
  if (template_depth_ == 0) body_open_ = true;
}

TreeContext::Verdict TreeContext::html_start(const Token& token, const TagFacts& facts) {
  Verdict verdict{.tag = facts.tag, .inserted = template_depth_ == 0, .model = facts.model};
  if (facts.tag == Tag::frameset) {
    verdict.inserted = template_depth_ == 0 && (!body_open_ || frameset_ok_);
    if (!verdict.inserted) return verdict;
    body_replaced_ = body_open_;
    stack_.clear();
    mode_ = Mode::frameset;
    frameset_depth_ = 1;
    return verdict;
  }
  if (!facts.head_content) open_body();
  if (facts.clears_frameset_ok) frameset_ok_ = false;
  if (keeps_implied_ && closes_paragraph(facts)) close_paragraph(facts);
  if (!reopened_.empty() && reopens_formatting(facts)) reopen_formatting();
  if (facts.is_void && facts.tag != Tag::frame && facts.tag != Tag::col && facts.tag != Tag::input) return verdict;
  Open open{.key = token.key, .tag = facts.tag, .special = facts.special};
  switch (facts.tag) {
    case Tag::html:
    case Tag::head:
    case Tag::body:
    case Tag::frame:
      verdict.inserted = facts.tag != Tag::frame;
      break;
    case Tag::input:
      if (frameset_ok_ && !attribute_is(token, name_key("type"), "hidden")) frameset_ok_ = false;
      break;
    case Tag::implied:
    case Tag::option:
      // Inside foreign content it matters that the current node becomes an HTML element.
      if (in_foreign_content() && push(open, false)) keeps_implied_ = true;
      break;
    case Tag::list_item:
    case Tag::description:
      end_previous_item(facts.tag);
      push(open, false);
      break;
    case Tag::caption:
    case Tag::cell:
    case Tag::row:
    case Tag::col:
    case Tag::table:
      begin_table_part(token.key, facts.tag);
      break;
    case Tag::svg:
    case Tag::math:
      if (!token.self_closing) push_foreign(token, facts.tag == Tag::math);
      break;
    case Tag::select:
      select_in_table_ = nearest_table() >= 0;
      in_select_ = push(open, true);
      break;
    case Tag::template_:
      open.scope_end = true;
      open.select_before = in_select_;
      if (push(open, true)) {
        ++template_depth_;
        in_select_ = false;
      }
      break;
    case Tag::object:
      open.scope_end = true;
      push(open, true);
      break;
    case Tag::a:
      end_formatting(token.key);
      push(open, false);
      break;
    default:
      if (facts.model == TextModel::data) push(open, false);  // raw elements are closed before the next tag is read
  }
  return verdict;
}

bool TreeContext::push(const Open& open, bool structural) {
  if (stack_.size() >= (structural ? max_open_elements_hard : max_open_elements)) return false;
  stack_.push_back(open);
  return true;
}

void TreeContext::push_foreign(const Token& token, bool is_math) {
  Open open{.key = token.key, .foreign = true, .is_math = is_math};
  if (is_math) {
    open.math_text = is_math_text(token.key);
    const bool annotation = token.key == name_key("annotation-xml");
    open.html_integration = annotation && is_annotation_with_html(token);
    open.scope_end = open.math_text || annotation;
  } else {
    open.html_integration = is_svg_integration(token.key);
    open.scope_end = open.html_integration;
  }
  open.special = open.scope_end;
  push(open, true);
}

std::ptrdiff_t TreeContext::nearest_table() const {
  for (auto i = static_cast<std::ptrdiff_t>(stack_.size()) - 1; i >= 0; --i) {
    const Open& open = stack_[static_cast<std::size_t>(i)];
    if (open.tag == Tag::table && !open.foreign) return i;
    if (open.tag == Tag::template_) return -1;
  }
  return -1;
}

// For tbody and tr one entry is kept, right above the table; then comes the cell or caption. Outside a table, table
// parts are dropped.
void TreeContext::begin_table_part(NameKey key, Tag tag) {
  const std::ptrdiff_t table = nearest_table();
  Open open{.key = key, .tag = tag, .scope_end = true, .special = true};
  if (tag == Tag::table) {
    // Inside a table but not in one of its cells: the old table ends here.
    const auto inside = table < 0 ? stack_.end() : stack_.begin() + table + 1;
    const bool in_cell =
        std::any_of(inside, stack_.end(), [](const Open& o) { return o.tag == Tag::cell || o.tag == Tag::caption; });
    if (table >= 0 && !in_cell) stack_.resize(static_cast<std::size_t>(table));
    push(open, true);
    return;
  }
  if (table < 0) return;
  stack_.resize(static_cast<std::size_t>(table) + 1);
  const bool has_row = tag == Tag::cell || (tag == Tag::row && key != name_key("colgroup"));
  if (has_row) push({.key = name_key("tr"), .tag = Tag::row, .special = true}, true);
  if (tag == Tag::cell || tag == Tag::caption) push(open, true);
}

// Whether the end tag of a table part has an element to end.
bool TreeContext::has_table_part(std::size_t content, NameKey key, Tag tag) const {
  if (tag == Tag::row) return stack_.size() > content && stack_[content].tag == Tag::row;
  const auto is_it = [key](const Open& open) { return open.key == key && !open.foreign; };
  return std::any_of(stack_.begin() + static_cast<std::ptrdiff_t>(content), stack_.end(), is_it);
}

void TreeContext::end_tag(const Token& token) {
  if (mode_ != Mode::document) {
    if (mode_ == Mode::frameset && token.key == name_key("frameset") && --frameset_depth_ == 0)
      mode_ = Mode::after_frameset;
    return;
  }
  // Nearly always it ends the current node.
  if (!stack_.empty() && stack_.back().key == token.key && stack_.back().tag != Tag::template_ && !in_select_) {
    stack_.pop_back();
    return;
  }
  if (in_foreign_content()) {
    if (token.key == name_key("p") || token.key == name_key("br")) {
      leave_foreign_content();
    } else {
      for (std::size_t i = stack_.size(); i > 0 && stack_[i - 1].foreign; --i) {
        if (stack_[i - 1].key != token.key) continue;
        stack_.resize(i - 1);
        return;
      }
    }
  }
  html_end(token);
}

void TreeContext::html_end(const Token& token) {
  const TagFacts& facts = tag_facts(token.key);
  if (facts.tag == Tag::template_) {
    end_template();
    return;
  }
  if (in_select_) {
    select_end(token.key, facts.tag);
    return;
  }
  if (facts.tag == Tag::html || facts.tag == Tag::body || facts.tag == Tag::br) {
    open_body();
    if (facts.tag == Tag::br) frameset_ok_ = false;  // "</br>" means "<br>"
    return;
  }
  if (facts.is_void || facts.model != TextModel::data) return;
  switch (facts.tag) {
    case Tag::implied:
    case Tag::option:
      if (keeps_implied_) end_in_scope(token.key);
      break;
    case Tag::list_item:
      end_in_scope(token.key, true);
      break;
    case Tag::head:
    case Tag::select:
      break;
    case Tag::table:
    case Tag::caption:
    case Tag::cell:
    case Tag::row:
      end_table_part(token.key, facts.tag);
      break;
    case Tag::a:
    case Tag::font:
    case Tag::formatting:
      end_formatting(token.key);
      break;
    case Tag::other:
    case Tag::head_part:
    case Tag::svg:
    case Tag::math:
      end_other(token.key);
      break;
    default:
      end_in_scope(token.key);
  }
}

void TreeContext::end_template() {
  if (template_depth_ == 0) return;
  while (stack_.back().tag != Tag::template_) stack_.pop_back();
  in_select_ = stack_.back().select_before;
  stack_.pop_back();
  --template_depth_;
}

void TreeContext::select_end(NameKey key, Tag tag) {
  if (tag == Tag::select) {
    leave_select();
  } else if (select_in_table_ && closes_select_in_table(key, tag)) {
    const std::ptrdiff_t table = nearest_table();
    if (table < 0 || (tag != Tag::table && !has_table_part(static_cast<std::size_t>(table) + 1, key, tag))) return;
    leave_select();
    end_table_part(key, tag);
  }
}

void TreeContext::end_table_part(NameKey key, Tag tag) {
  const std::ptrdiff_t table = nearest_table();
  if (table < 0) return;
  if (tag == Tag::table) {
    stack_.resize(static_cast<std::size_t>(table));
    return;
  }
  const auto content = static_cast<std::size_t>(table) + 1;
  if (tag == Tag::row) {
    if (has_table_part(content, key, tag)) stack_.resize(content);
    return;
  }
  for (std::size_t i = stack_.size(); i > content; --i) {
    if (stack_[i - 1].key == key && !stack_[i - 1].foreign) {
      stack_.resize(i - 1);
      return;
    }
  }
}

// The effect of the adoption agency algorithm (13.2.6.4.7) on the stack: the element goes, blocks inside it stay.
void TreeContext::end_formatting(NameKey key) {
  std::erase_if(reopened_, [key](const Open& open) { return open.key == key; });
  std::size_t last_special = 0;  // index + 1
  for (std::size_t i = stack_.size(); i > 0; --i) {
    const Open& open = stack_[i - 1];
    if (open.key == key && !open.foreign) {
      if (last_special == 0) {
        stack_.resize(i - 1);
      } else {
        stack_.resize(last_special);
        stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(i - 1));
      }
      return;
    }
    if (open.scope_end) return;
    if (open.special && last_special == 0) last_special = i;
  }
}

// "A start tag whose tag name is li", "dd" or "dt": ends the one before if nothing special is between (13.2.6.4.7).
void TreeContext::end_previous_item(Tag tag) {
  for (std::size_t i = stack_.size(); i > 0; --i) {
    const Open& open = stack_[i - 1];
    if (open.tag == tag && !open.foreign) return stack_.resize(i - 1);
    if (open.special && open.key != name_key("address") && open.key != name_key("div") && open.key != name_key("p"))
      return;
  }
}

// "Close a p element" if one is in button scope. A <p> is on the stack only in foreign content.
void TreeContext::close_paragraph(const TagFacts& facts) {
  if (facts.tag == Tag::table && is_quirks_doctype(tokenizer_.doctype())) return;
  for (std::size_t i = stack_.size(); i > 0; --i) {
    const Open& open = stack_[i - 1];
    if (open.key == name_key("p") && !open.foreign) return pop_to(i - 1);
    if (open.scope_end || open.tag == Tag::not_ok) return;  // not_ok: button
  }
}

// Formatting elements that ended with a block around them are opened again before the next text (13.2.4.3). That
// matters when the current node then is one of them, and no longer an SVG or MathML element.
void TreeContext::pop_to(std::size_t size) {
  if (keeps_implied_) {
    for (std::size_t i = size; i < stack_.size() && reopened_.size() < max_open_elements; ++i)
      if (is_formatting(stack_[i].tag) && !stack_[i].foreign) reopened_.push_back(stack_[i]);
  }
  stack_.resize(size);
}

void TreeContext::reopen_formatting() {
  const bool html =
      !stack_.empty() && (!in_foreign_content() || stack_.back().html_integration || stack_.back().math_text);
  if (!html) return;
  for (const Open& open : std::exchange(reopened_, {})) push(open, false);
}

void TreeContext::end_in_scope(NameKey key, bool list_item) {
  for (std::size_t i = stack_.size(); i > 0; --i) {
    const Open& open = stack_[i - 1];
    if (list_item && !open.foreign && (open.key == name_key("ul") || open.key == name_key("ol"))) return;
    if (open.key == key && !open.foreign) {
      if (open.tag == Tag::form) {
        stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(i - 1));
      } else {
        pop_to(i - 1);
      }
      return;
    }
    if (open.scope_end) return;
  }
}

void TreeContext::end_other(NameKey key) {
  for (std::size_t i = stack_.size(); i > 0; --i) {
    const Open& open = stack_[i - 1];
    if (open.key == key && !open.foreign) {
      stack_.resize(i - 1);
      return;
    }
    if (open.special) return;
  }
}

void TreeContext::text(const Token& token) {
  if (!text_matters()) return;
  if (token.model != TextModel::data && token.model != TextModel::cdata) return;
  if (!reopened_.empty()) reopen_formatting();
  for (const char c : token.text) {
    if (is_html_space(c)) continue;
    open_body();
    if (c != '\0' && body_open_) {
      frameset_ok_ = false;
      return;
    }
  }
}

}  // namespace orbweaver::html
