// A page's visible text, white space folded, a newline between blocks: the part that is common to tidy's tree and the
// tokenizer's stream.
#pragma once

#include <string>
#include <string_view>

#include "node/html/links.h"
#include "node/html/tags.h"

namespace orbweaver::html {

// What an element's edges do to the text around them.
enum class TextBreak : std::uint8_t { none, space, line };
TextBreak text_break(const TagFacts& facts);

// Whether an element's content is never shown as text: scripts, styles, templates, frames' fallbacks, the title.
bool hides_text(const TagFacts& facts);

class TextBuilder {
 public:
  void append(std::string_view text);
  void add_break(TextBreak kind) {
    if (kind > pending_) pending_ = kind;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  TextBreak pending_ = TextBreak::none;  // written before the next word
};

std::string folded(std::string_view text);

// An <a> and the text within it.
struct AnchorText {
  std::string href;  // UTF-8, character references decoded, not yet resolved
  std::string text;
};

// By the tokenizer alone: for pages that tidy must not get. `anchors`: receives the anchors that have an href, at most
// max_links_per_page; null: none are collected.
PageText extract_text_by_stream(std::string_view html, std::vector<AnchorText>* anchors = nullptr);

}  // namespace orbweaver::html
