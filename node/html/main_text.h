// A page's own text, without text that all pages of its site share: blocks of text, and which of them are boilerplate
// by shallow text features (Kohlschuetter, Fankhauser, Nejdl 2010, "Boilerplate Detection using Shallow Text Features",
// algorithm 2: link density and number of words of a block and its two neighbours). docs/how-to/corpus.md has the rule
// and its effect. Pure; one pass of the tokenizer. Thread rule: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orbweaver::html {

// A run of text without a block-level tag inside.
struct TextBlock {
  std::string text;          // white space folded
  std::uint32_t words = 0;   // node/text/words.h; two characters without spaces between words count as one
  std::uint32_t linked = 0;  // words within <a>
  bool outside = false;      // within <nav> or <footer>: boilerplate whatever its words
  bool whole = false;        // a text of its own
  bool boilerplate = false;  // what mark_boilerplate() found
};

struct PageBlocks {
  std::string title;
  std::string language;           // lang of <html>, as written; empty when none
  std::vector<TextBlock> blocks;  // no block is empty
  // The page's own dates, as written, with their source: a name or property of a <meta> that means a date of
  // publication, or "time" for a <time datetime> with itemprop=datePublished or pubdate. At most max_page_dates.
  std::vector<std::pair<std::string, std::string>> dates;
};
inline constexpr std::size_t max_page_dates = 8;

PageBlocks page_blocks(std::string_view html);

// Text without markup, from a user's command: one block as it is, never boilerplate.
PageBlocks blocks_of_text(std::string_view text);

// Sets `boilerplate` of each block, except blocks that are `whole`.
void mark_boilerplate(std::vector<TextBlock>& blocks);

// The blocks' texts, separated by line feeds; `all`: boilerplate too.
std::string text_of(const std::vector<TextBlock>& blocks, bool all);

}  // namespace orbweaver::html
