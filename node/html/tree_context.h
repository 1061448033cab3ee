// Just enough of the HTML standard's tree construction (13.2.6) to know three things at each tag: whether it makes an
// HTML element, how the tokenizer continues, and what is hidden (inside <template>, <select>, <svg> and <math>, or next
// to a <frameset>).
//
// It keeps the stack of open elements without most elements whose end tags may be left out (p, option…) and builds no
// tree. It differs from the standard only where no link depends on it: foster parenting, the formatting elements'
// clones outside foreign content, heads opened late. Thread rule: one owner. Memory: max_open_elements_hard entries of
// 16 bytes. Cost: a few nanoseconds per tag; a mismatched end tag looks through the stack at most once.
#pragma once

#include <cstdint>
#include <vector>

#include "node/html/tags.h"
#include "node/html/tokenizer.h"

namespace orbweaver::html {

// Deeper elements are not kept (browsers have limits too, Blink at 512). Elements that change the rules (tables,
// templates, svg…) are kept up to the hard limit. The limits also bound the cost of a mismatched end tag, in steps.
inline constexpr std::size_t max_open_elements = 256;
inline constexpr std::size_t max_open_elements_hard = 512;

class TreeContext {
 public:
  // `tokenizer` outlives it: its doctype determines quirks mode.
  explicit TreeContext(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  struct Verdict {
    Tag tag = Tag::other;
    bool inserted = false;  // it makes an HTML element, in the document and not in a template
    TextModel model = TextModel::data;
    bool svg = false;  // it makes an SVG element, in the document and not in a template; `inserted` is false then
  };

  Verdict start_tag(const Token& token);
  void end_tag(const Token& token);
  void text(const Token& token);
  // Text matters until the body is open and can no longer be replaced by a <frameset>, and where formatting elements
  // must be opened again. Otherwise text() does nothing.
  bool text_matters() const { return mode_ == Mode::document && (!body_open_ || frameset_ok_ || !reopened_.empty()); }

  // The current node is an SVG or MathML element: CDATA sections are allowed.
  bool in_foreign_content() const { return !stack_.empty() && stack_.back().foreign; }
  bool in_template() const { return template_depth_ != 0; }
  bool in_select() const { return in_select_; }
  bool in_body() const { return body_open_; }
  // A <frameset> replaced the body: links found in the body no longer count.
  bool body_replaced() const { return body_replaced_; }

 private:
  enum class Mode : std::uint8_t { document, frameset, after_frameset };

  struct Open {
    NameKey key = 0;
    Tag tag = Tag::other;
    bool foreign : 1 = false;
    bool is_math : 1 = false;           // in the MathML namespace, else SVG; if foreign
    bool html_integration : 1 = false;  // HTML inside it (13.2.6.5)
    bool math_text : 1 = false;         // mi, mo, mn, ms, mtext
    bool scope_end : 1 = false;         // "has an element in scope" stops here (13.2.4.2)
    bool special : 1 = false;
    bool select_before : 1 = false;  // for a template: whether it opened inside a select
  };

  Verdict foreign_start(const Token& token);
  Verdict html_start(const Token& token, const TagFacts& facts);
  Verdict select_start(const Token& token, const TagFacts& facts);
  Verdict frameset_start(const Token& token, const TagFacts& facts);
  bool html_rules_apply_to_start(NameKey key) const;
  void html_end(const Token& token);
  void select_end(NameKey key, Tag tag);
  void end_table_part(NameKey key, Tag tag);
  void end_formatting(NameKey key);
  void end_in_scope(NameKey key, bool list_item = false);
  void end_previous_item(Tag tag);
  void close_paragraph(const TagFacts& facts);
  void pop_to(std::size_t size);
  void reopen_formatting();
  void end_other(NameKey key);
  void end_template();
  void begin_table_part(NameKey key, Tag tag);
  void leave_foreign_content();
  void leave_select();
  void open_body();
  bool push(const Open& open, bool structural);
  void push_foreign(const Token& token, bool is_math);
  bool has_table_part(std::size_t content, NameKey key, Tag tag) const;
  // Index of the nearest table within the innermost template, if one is open; -1: there is none.
  std::ptrdiff_t nearest_table() const;

  const Tokenizer& tokenizer_;
  std::vector<Open> stack_;
  std::vector<Open> reopened_;  // within foreign content: formatting elements that ended with a block, to be reopened
  std::uint32_t template_depth_ = 0;
  std::uint32_t frameset_depth_ = 0;
  Mode mode_ = Mode::document;
  bool in_select_ = false;
  bool select_in_table_ = false;
  bool keeps_implied_ = false;  // elements with optional end tags were put on the stack
  bool body_open_ = false;
  bool frameset_ok_ = true;
  bool body_replaced_ = false;
};

}  // namespace orbweaver::html
