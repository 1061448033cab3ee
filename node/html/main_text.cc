#include "node/html/main_text.h"

#include <algorithm>
#include <array>

#include "node/html/tree_context.h"
#include "node/html/visible_text.h"
#include "node/text/words.h"

namespace orbweaver::html {

namespace {

// Kohlschuetter et al., algorithm 2.
constexpr double max_link_density = 0.333333;
constexpr double max_previous_link_density = 0.555556;

double link_density(const TextBlock* block) {
  return block == nullptr || block->words == 0 ? 0 : static_cast<double>(block->linked) / block->words;
}

bool is_content(const TextBlock* previous, const TextBlock& current, const TextBlock* next) {
  if (current.outside || link_density(&current) > max_link_density) return false;
  const std::uint32_t before = previous == nullptr ? 0 : previous->words;
  const std::uint32_t after = next == nullptr ? 0 : next->words;
  if (link_density(previous) <= max_previous_link_density) return current.words > 16 || after > 15 || before > 4;
  return current.words > 40 || after > 17;
}

// Open Graph; Dublin Core; schema.org; names that publishers' systems write.
constexpr std::array<std::string_view, 12> date_names = {
    "article:published_time", "date",          "dc.date",     "dcterms.date", "dc.date.issued", "dcterms.created",
    "dcterms.issued",         "datepublished", "publishdate", "pubdate",      "citation_date",  "last-modified"};

std::string value_of(const Token& token, NameKey name) {
  std::string value;
  if (const std::string_view* raw = token.attribute(name)) decode_attribute(*raw, value);
  return value;
}

void note_date(const Token& token, PageBlocks& page) {
  if (page.dates.size() >= max_page_dates) return;
  if (token.key == name_key("time")) {
    const bool published = token.attribute(name_key("pubdate")) != nullptr ||
                           equals_ignoring_case(value_of(token, name_key("itemprop")), "datepublished");
    if (published && token.attribute(name_key("datetime")) != nullptr)
      page.dates.emplace_back("time", value_of(token, name_key("datetime")));
    return;
  }
  if (token.key != name_key("meta")) return;
  for (const std::string_view attribute : {"property", "name", "itemprop", "http-equiv"}) {
    std::string name = value_of(token, name_key(attribute));
    std::transform(name.begin(), name.end(), name.begin(), to_lower_ascii);
    if (std::find(date_names.begin(), date_names.end(), name) == date_names.end()) continue;
    page.dates.emplace_back(std::move(name), value_of(token, name_key("content")));
    return;
  }
}

bool is_outside(NameKey key) { return key == name_key("nav") || key == name_key("footer"); }

// Collects text in blocks; a word counts as linked when its text was within <a>.
class Blocks {
 public:
  void text(std::string_view shown) {
    builder_.append(shown);
    if (link_) linked_ += count(shown);
    empty_ = empty_ && shown.find_first_not_of(" \t\r\n\f") == std::string_view::npos;
  }
  void space() { builder_.add_break(TextBreak::space); }
  void begin() {
    if (empty_) return;
    TextBlock block;
    block.text = builder_.take();
    builder_ = TextBuilder();
    block.words = count(block.text);
    block.linked = std::min(linked_, block.words);
    block.outside = outside_ > 0;
    if (!block.text.empty()) blocks_.push_back(std::move(block));
    linked_ = 0;
    empty_ = true;
  }
  void link(bool inside) { link_ = inside; }  // links do not nest
  void outside(int change) { outside_ = std::max(outside_ + change, 0); }
  std::vector<TextBlock> take() {
    begin();
    return std::move(blocks_);
  }

 private:
  static std::uint32_t count(std::string_view text) {
    std::uint32_t words = 0;
    std::uint32_t alone = 0;
    for_each_word(text, [&](std::string_view word) { ++(text_detail::stands_alone(word) ? alone : words); });
    return words + (alone + 1) / 2;
  }

  std::vector<TextBlock> blocks_;
  TextBuilder builder_;
  std::uint32_t linked_ = 0;
  bool link_ = false;
  int outside_ = 0;
  bool empty_ = true;
};

}  // namespace

PageBlocks page_blocks(std::string_view html) {
  PageBlocks page;
  Blocks blocks;
  Tokenizer tokenizer(html);
  TreeContext context(tokenizer);
  Token token;
  std::string decoded;
  bool title_comes = false;
  bool has_title = false;
  bool control = false;  // inside a form control
  while (tokenizer.next(token)) {
    if (token.kind == TokenKind::text) {
      context.text(token);
      const bool is_shown = token.model == TextModel::data || token.model == TextModel::plaintext ||
                            token.model == TextModel::cdata || token.model == TextModel::rcdata;
      if (!is_shown || context.in_template()) continue;
      decoded.clear();
      const bool has_references = token.model == TextModel::data || token.model == TextModel::rcdata;
      if (has_references) decode_text(token.text, decoded);
      const std::string_view shown = has_references ? std::string_view(decoded) : token.text;
      if (title_comes) {
        if (!has_title) page.title = folded(shown);
        has_title = true;
        title_comes = false;
      } else if (!control && !context.in_select()) {
        blocks.text(shown);
      }
      continue;
    }
    const bool start = token.kind == TokenKind::start_tag;
    const TagFacts& facts = tag_facts(token.key);
    const TextBreak edge = text_break(facts);
    // A <br> breaks a line, not a block.
    if (edge == TextBreak::space || facts.tag == Tag::br) blocks.space();
    if (edge == TextBreak::line && facts.tag != Tag::br) blocks.begin();
    title_comes = false;
    control = start && facts.tag == Tag::textarea;
    if (!start) {
      context.end_tag(token);
      if (facts.tag == Tag::a) blocks.link(false);
      if (is_outside(token.key)) blocks.outside(-1);
    } else {
      const TreeContext::Verdict verdict = context.start_tag(token);
      if (verdict.model != TextModel::data) tokenizer.enter(verdict.model, token.key);
      title_comes = verdict.tag == Tag::title && verdict.model == TextModel::rcdata;
      if (verdict.tag == Tag::html && page.language.empty()) page.language = value_of(token, name_key("lang"));
      if (verdict.inserted && verdict.tag == Tag::a) blocks.link(true);
      if (is_outside(token.key)) blocks.outside(1);
      note_date(token, page);
    }
    tokenizer.allow_cdata(context.in_foreign_content());
  }
  page.blocks = blocks.take();
  return page;
}

PageBlocks blocks_of_text(std::string_view text) {
  PageBlocks page;
  TextBlock block;
  block.text = text;
  block.whole = true;
  if (!text.empty()) page.blocks.push_back(std::move(block));
  return page;
}

void mark_boilerplate(std::vector<TextBlock>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    blocks[i].boilerplate = !blocks[i].whole && !is_content(i == 0 ? nullptr : &blocks[i - 1], blocks[i],
                                                            i + 1 == blocks.size() ? nullptr : &blocks[i + 1]);
}

std::string text_of(const std::vector<TextBlock>& blocks, bool all) {
  std::string text;
  for (const TextBlock& block : blocks) {
    if (block.boilerplate && !all) continue;
    if (!text.empty()) text += '\n';
    text += block.text;
  }
  return text;
}

}  // namespace orbweaver::html
