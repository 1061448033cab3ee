// Links by the streaming tokenizer: no tree, one pass.
#include <utility>

#include "node/html/link_rules.h"
#include "node/html/tree_context.h"

namespace orbweaver {
namespace {

using html::name_key;
using html::Tag;
using html::Token;

std::string value_of(const std::string_view* raw) {
  std::string value;
  if (raw != nullptr) html::decode_attribute(*raw, value);
  return value;
}

std::string value_of(const Token& token, html::NameKey name) { return value_of(token.attribute(name)); }

void note_anchor(const Token& token, LinkKind kind, PageLinks& page) {
  const std::string_view* href = token.attribute(name_key("href"));
  if (href == nullptr) return;
  const bool nofollow = html::has_token(value_of(token, name_key("rel")), "nofollow");
  html::add_link(page, value_of(href), kind, nofollow);
}

void note_frame(const Token& token, LinkKind kind, PageLinks& page) {
  const std::string_view* src = token.attribute(name_key("src"));
  // An empty src is about:blank, not the page (HTML standard, 4.8.5).
  if (src != nullptr && !src->empty()) html::add_link(page, value_of(src), kind);
}

void note_link(const Token& token, PageLinks& page) {
  const std::string_view* href = token.attribute(name_key("href"));
  if (href == nullptr || href->empty()) return;  // an empty href links nothing (4.2.4.3)
  if (const auto kind = html::kind_of_link_rel(value_of(token, name_key("rel")))) {
    html::add_link(page, value_of(href), *kind);
  }
}

void note_element(Tag tag, const Token& token, PageLinks& page) {
  switch (tag) {
    case Tag::a:
      note_anchor(token, LinkKind::anchor, page);
      break;
    case Tag::area:
      note_anchor(token, LinkKind::area, page);
      break;
    case Tag::frame:
      note_frame(token, LinkKind::frame, page);
      break;
    case Tag::iframe:
      note_frame(token, LinkKind::iframe, page);
      break;
    case Tag::link:
      note_link(token, page);
      break;
    case Tag::base:
      if (const auto* href = token.attribute(name_key("href")); href != nullptr && !page.base) {
        page.base = value_of(href);
      }
      break;
    case Tag::meta:
      if (const auto* content = token.attribute(name_key("content"))) {
        const std::string decoded = value_of(content);
        html::note_meta_robots(value_of(token, name_key("name")), decoded, page);
        html::note_meta_refresh(value_of(token, name_key("http-equiv")), decoded, page);
      }
      break;
    default:
      break;
  }
}

// What the head gave, to go back to when a <frameset> takes the body's place.
struct HeadOnly {
  bool taken = false;
  std::size_t links = 0;
  std::size_t robots_tags = 0;
  std::optional<std::string> base;
  bool meta_nofollow = false;
  bool meta_noindex = false;

  void take(const PageLinks& page) {
    taken = true;
    links = page.links.size();
    robots_tags = page.robots_tags.size();
    base = page.base;
    meta_nofollow = page.meta_nofollow;
    meta_noindex = page.meta_noindex;
  }
  void restore(PageLinks& page) const {
    page.links.resize(links);
    page.robots_tags.resize(robots_tags);
    page.base = base;
    page.meta_nofollow = meta_nofollow;
    page.meta_noindex = meta_noindex;
  }
};

class StreamExtractor final : public LinkExtractor {
 public:
  PageLinks extract(std::string_view page_text) override {
    PageLinks page;
    HeadOnly head;
    html::Tokenizer tokenizer(page_text);
    html::TreeContext context;
    while (tokenizer.next(token_)) {
      if (token_.kind == html::TokenKind::text) {
        if (context.text_matters()) context.text(token_);
        continue;
      }
      if (token_.kind == html::TokenKind::end_tag) {
        context.end_tag(token_);
        tokenizer.allow_cdata(context.in_foreign_content());
        continue;
      }
      const html::TreeContext::Verdict verdict = context.start_tag(token_);
      tokenizer.allow_cdata(context.in_foreign_content());
      if (verdict.model != html::TextModel::data) tokenizer.enter(verdict.model, token_.key);
      if (!head.taken && context.in_body()) head.take(page);
      if (!verdict.inserted) continue;
      if (verdict.tag == Tag::frameset && context.body_replaced() && head.taken) head.restore(page);
      note_element(verdict.tag, token_, page);
    }
    return page;
  }

 private:
  Token token_;  // kept for its vector's memory
};

}  // namespace

std::unique_ptr<LinkExtractor> make_stream_extractor() { return std::make_unique<StreamExtractor>(); }

}  // namespace orbweaver
