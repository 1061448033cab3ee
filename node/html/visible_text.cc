#include "node/html/visible_text.h"

#include "node/html/tree_context.h"

namespace orbweaver::html {

TextBreak text_break(const TagFacts& facts) {
  switch (facts.tag) {
    case Tag::br:
    case Tag::hr:
    case Tag::heading:
    case Tag::body:
    case Tag::html:
    case Tag::form:
    case Tag::table:
    case Tag::caption:
    case Tag::row:
    case Tag::option:
    case Tag::special:
    case Tag::plaintext:
    case Tag::list_item:
    case Tag::description:
      return TextBreak::line;
    case Tag::implied:
      return facts.special ? TextBreak::line : TextBreak::none;  // p; ruby's parts are inline
    case Tag::rawtext:
    case Tag::textarea:
    case Tag::cell:
      return TextBreak::space;
    default:
      return TextBreak::none;
  }
}

bool hides_text(const TagFacts& facts) {
  switch (facts.tag) {
    case Tag::script:
    case Tag::template_:
    case Tag::title:
    case Tag::iframe:
    case Tag::noframes:
    case Tag::head:
    case Tag::rawtext:  // style, noembed; xmp is shown, but hardly any page uses it
      return true;
    default:
      return false;
  }
}

void TextBuilder::append(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (is_html_space(text[at])) {
      add_break(TextBreak::space);
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_html_space(text[end])) ++end;
    if (!text_.empty() && pending_ != TextBreak::none) text_ += pending_ == TextBreak::line ? '\n' : ' ';
    pending_ = TextBreak::none;
    text_ += text.substr(at, end - at);
    at = end;
  }
}

std::string folded(std::string_view text) {
  TextBuilder builder;
  builder.append(text);
  return builder.take();
}

PageText extract_text_by_stream(std::string_view html, std::vector<AnchorText>* anchors) {
  PageText out;
  TextBuilder text;
  Tokenizer tokenizer(html);
  TreeContext context(tokenizer);
  Token token;
  std::string decoded;
  bool title_comes = false;
  bool has_title = false;
  bool in_anchor = false;
  while (tokenizer.next(token)) {
    if (token.kind == TokenKind::text) {
      context.text(token);
      decoded.clear();
      const bool is_shown = token.model == TextModel::data || token.model == TextModel::plaintext ||
                            token.model == TextModel::cdata || token.model == TextModel::rcdata;
      if (!is_shown || context.in_template()) continue;
      const bool has_references = token.model == TextModel::data || token.model == TextModel::rcdata;
      if (has_references) decode_text(token.text, decoded);
      const std::string_view shown = has_references ? std::string_view(decoded) : token.text;
      if (title_comes) {
        if (!has_title) out.title = folded(shown);
        has_title = true;
        title_comes = false;
      } else {
        text.append(shown);
        if (in_anchor) anchors->back().text.append(shown);
      }
      continue;
    }
    const TagFacts& facts = tag_facts(token.key);
    text.add_break(text_break(facts));
    title_comes = false;
    if (facts.tag == Tag::a && anchors != nullptr) {
      const auto* href = token.kind == TokenKind::end_tag ? nullptr : token.attribute(name_key("href"));
      in_anchor = href != nullptr && anchors->size() < max_links_per_page;
      if (in_anchor) decode_attribute(*href, anchors->emplace_back().href);
    } else if (in_anchor && text_break(facts) != TextBreak::none) {
      anchors->back().text += ' ';
    }
    if (token.kind == TokenKind::end_tag) {
      context.end_tag(token);
    } else {
      const TreeContext::Verdict verdict = context.start_tag(token);
      if (verdict.model != TextModel::data) tokenizer.enter(verdict.model, token.key);
      title_comes = verdict.tag == Tag::title && verdict.model == TextModel::rcdata;
      if (verdict.tag == Tag::html && out.language.empty()) {
        if (const auto* lang = token.attribute(name_key("lang"))) decode_attribute(*lang, out.language);
      }
    }
    tokenizer.allow_cdata(context.in_foreign_content());
  }
  out.text = text.take();
  return out;
}

}  // namespace orbweaver::html
