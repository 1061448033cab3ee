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

void note_anchor(const Token& token, const std::string_view* href, LinkKind kind, PageLinks& page) {
  if (href == nullptr) return;
  const std::string_view* rel = token.attribute(name_key("rel"));
  if (rel == nullptr) return html::add_link(page, value_of(href), kind);
  const std::string tokens = value_of(rel);
  html::add_link(page, value_of(href), html::kind_of_anchor_rel(tokens, kind), html::has_token(tokens, "nofollow"));
}

// SVG 2, 16.2: xlink:href counts where there is no href.
void note_svg_anchor(const Token& token, PageLinks& page) {
  const std::string_view* href = token.attribute(name_key("href"));
  note_anchor(token, href != nullptr ? href : token.attribute(name_key("xlink:href")), LinkKind::anchor, page);
}

void note_frame(const Token& token, LinkKind kind, PageLinks& page) {
  const std::string_view* src = token.attribute(name_key("src"));
  // An empty src is about:blank, not the page (HTML standard, 4.8.5).
  if (src != nullptr && !src->empty()) html::add_link(page, value_of(src), kind);
}

void note_link(const Token& token, PageLinks& page) {
  const std::string_view* href = token.attribute(name_key("href"));
  if (href == nullptr || href->empty()) return;  // an empty href is not a link (4.2.4.3)
  if (const auto kind = html::kind_of_link_rel(value_of(token, name_key("rel")))) {
    html::add_link(page, value_of(href), *kind);
  }
}

void note_element(Tag tag, const Token& token, PageLinks& page) {
  switch (tag) {
    case Tag::a:
      note_anchor(token, token.attribute(name_key("href")), LinkKind::anchor, page);
      break;
    case Tag::area:
      note_anchor(token, token.attribute(name_key("href")), LinkKind::area, page);
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

// The results from the head, to return to when a <frameset> replaces the body.
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
  explicit StreamExtractor(LinkChoice choice)
      : choice_(choice),
        elements_chosen_(choice.resources || choice.styles || choice.cites || choice.forms),
        raw_text_chosen_(choice.styles || choice.json_ld || choice.scripts) {}

  PageLinks extract(std::string_view page_text) override {
    PageLinks page;
    HeadOnly head;
    html::Tokenizer tokenizer(page_text);
    raw_element_ = 0;
    html::TreeContext context(tokenizer);
    while (tokenizer.next(token_)) {
      if (token_.kind == html::TokenKind::text) {
        if (context.text_matters()) context.text(token_);
        if (raw_element_ != 0) note_raw_text(page);
        continue;
      }
      raw_element_ = 0;
      if (token_.kind == html::TokenKind::end_tag) {
        context.end_tag(token_);
        tokenizer.allow_cdata(context.in_foreign_content());
        continue;
      }
      const html::TreeContext::Verdict verdict = context.start_tag(token_);
      tokenizer.allow_cdata(context.in_foreign_content());
      if (verdict.model != html::TextModel::data) tokenizer.enter(verdict.model, token_.key);
      if (!head.taken && context.in_body()) head.take(page);
      // SVG elements load images and scripts too.
      if (elements_chosen_ && (verdict.inserted || (context.in_foreign_content() && !context.in_template())))
        note_chosen(page);
      if (verdict.svg && verdict.tag == Tag::a) note_svg_anchor(token_, page);
      if (!verdict.inserted) continue;
      if (raw_text_chosen_ && verdict.model != html::TextModel::data) begin_raw_text();
      if (verdict.tag == Tag::frameset && context.body_replaced() && head.taken) head.restore(page);
      note_element(verdict.tag, token_, page);
    }
    return page;
  }

 private:
  void note_chosen(PageLinks& page) const {
    const auto attribute = [this](std::string_view name) -> std::optional<std::string> {
      const std::string_view* raw = token_.attribute(name_key(name));
      if (raw == nullptr) return std::nullopt;
      return value_of(raw);
    };
    html::note_chosen(token_.key, attribute, choice_, page);
  }

  // The element is followed by one text token, or by none.
  void begin_raw_text() {
    if (token_.key != name_key("style") && token_.key != name_key("script")) return;
    raw_element_ = token_.key;
    raw_type_ = value_of(token_, name_key("type"));
  }

  void note_raw_text(PageLinks& page) {
    if (raw_element_ == name_key("script")) {
      html::note_script_text(raw_type_, token_.text, choice_, page);
    } else if (choice_.styles) {
      html::note_style_text(token_.text, page);
    }
  }

  Token token_;  // a member, to reuse its vector's memory
  LinkChoice choice_;
  bool elements_chosen_;
  bool raw_text_chosen_;
  html::NameKey raw_element_ = 0;  // the <style> or <script> that was opened last, until the next tag
  std::string raw_type_;           // its type attribute
};

}  // namespace

std::unique_ptr<LinkExtractor> make_stream_extractor(LinkChoice choice) {
  return std::make_unique<StreamExtractor>(choice);
}

}  // namespace orbweaver
