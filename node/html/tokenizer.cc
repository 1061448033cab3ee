#include "node/html/tokenizer.h"

#include <cstring>

namespace orbweaver::html {
namespace {

constexpr bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool ends_name(char c) { return is_html_space(c) || c == '/' || c == '>'; }

const char* find(const char* p, const char* end, char c) {
  const void* found = p == end ? nullptr : std::memchr(p, c, static_cast<std::size_t>(end - p));
  return found != nullptr ? static_cast<const char*>(found) : end;
}

bool starts_with(const char* p, const char* end, std::string_view lower) {
  return static_cast<std::size_t>(end - p) >= lower.size() && equals_ignoring_case({p, lower.size()}, lower);
}

// A name's characters are added to its key as they are read; only long names are hashed, when they are whole.
const char* scan_tag_name(const char* p, const char* end, NameKey& key) {
  const char* const begin = p;
  NameKey packed = 0;
  while (p != end && !ends_name(*p)) {
    packed = packed << 8 | static_cast<unsigned char>(to_lower_ascii(*p));
    ++p;
  }
  const auto length = static_cast<std::size_t>(p - begin);
  key = length <= 8 ? packed : name_key({begin, length});
  return p;
}

const char* skip_spaces(const char* p, const char* end) {
  while (p != end && is_html_space(*p)) ++p;
  return p;
}

// `p` stands after "<!--". A comment ends at "-->" or "--!>"; "<!-->" and "<!--->" are whole (13.2.5.43 to 13.2.5.52).
const char* after_comment(const char* p, const char* end) {
  if (p != end && *p == '>') return p + 1;
  if (end - p >= 2 && p[0] == '-' && p[1] == '>') return p + 2;
  const char* const begin = p;
  while ((p = find(p, end, '>')) != end) {
    const bool plain = p - begin >= 2 && p[-1] == '-' && p[-2] == '-';
    const bool bang = p - begin >= 3 && p[-1] == '!' && p[-2] == '-' && p[-3] == '-';
    ++p;
    if (plain || bang) return p;
  }
  return end;
}

const char* after_bogus_comment(const char* p, const char* end) {
  p = find(p, end, '>');
  return p == end ? end : p + 1;
}

}  // namespace

bool Tokenizer::next(Token& token) {
  if (model_ != TextModel::data && next_raw(token)) return true;
  while (at_ != end_) {
    const char* const begin = at_;
    const char* p = begin;
    // Text runs up to the next '<' that opens something.
    for (; (p = find(p, end_, '<')) != end_; ++p) {
      if (p + 1 == end_) continue;
      const char c = p[1];
      if (is_alpha(c) || c == '!' || c == '?' || (c == '/' && p + 2 != end_)) break;
    }
    if (p != begin) {
      token.kind = TokenKind::text;
      token.model = TextModel::data;
      token.text = {begin, static_cast<std::size_t>(p - begin)};
      at_ = p;
      return true;
    }
    const char c = p[1];
    if (is_alpha(c)) {
      if (tag(token, p + 1, TokenKind::start_tag)) return true;
    } else if (c == '/') {
      if (is_alpha(p[2])) {
        if (tag(token, p + 2, TokenKind::end_tag)) return true;
      } else {
        at_ = after_bogus_comment(p + 2, end_);  // "</>" is nothing at all, and ends in the same place
      }
    } else if (c == '!') {
      bool is_text = false;
      at_ = after_markup_declaration(p + 2, token, is_text);
      if (is_text) return true;
    } else {
      at_ = after_bogus_comment(p + 1, end_);
    }
  }
  return false;
}

// `p` stands after "<!".
const char* Tokenizer::after_markup_declaration(const char* p, Token& token, bool& is_text) const {
  if (end_ - p >= 2 && p[0] == '-' && p[1] == '-') return after_comment(p + 2, end_);
  constexpr std::string_view cdata = "[CDATA[";
  const auto left = static_cast<std::size_t>(end_ - p);
  if (!cdata_allowed_ || left < cdata.size() || std::string_view(p, cdata.size()) != cdata) {
    return after_bogus_comment(p, end_);  // a doctype ends at the first '>' too, in quotes or not
  }
  p += cdata.size();
  const std::string_view rest(p, static_cast<std::size_t>(end_ - p));
  const std::size_t length = rest.find("]]>");
  is_text = true;
  token.kind = TokenKind::text;
  token.model = TextModel::cdata;
  token.text = rest.substr(0, length);
  return length == std::string_view::npos ? end_ : p + length + 3;
}

// Gives the raw text, if there is any, and then leaves the end tag to next(). False: go on as data.
bool Tokenizer::next_raw(Token& token) {
  const char* const begin = at_;
  const TextModel model = model_;
  const char* p = end_;
  if (model == TextModel::script) {
    p = script_end(begin);
  } else if (model != TextModel::plaintext) {
    p = raw_text_end(begin);
  }
  model_ = TextModel::data;
  at_ = p;
  if (p == begin) return false;
  token.kind = TokenKind::text;
  token.model = model;
  token.text = {begin, static_cast<std::size_t>(p - begin)};
  return true;
}

// `p` stands at "</": whether an end tag of the raw text's own element opens there ("appropriate end tag token").
bool Tokenizer::is_end_tag_of_raw_element(const char* p) const {
  if (end_ - p < 3 || p[1] != '/' || !is_alpha(p[2])) return false;
  const char* const name = p + 2;
  const char* name_end = name;
  // No raw element's name is longer than "plaintext".
  while (name_end != end_ && name_end - name < 10 && !ends_name(*name_end)) ++name_end;
  if (name_end == end_ || !ends_name(*name_end)) return false;
  return name_key({name, static_cast<std::size_t>(name_end - name)}) == raw_element_;
}

const char* Tokenizer::raw_text_end(const char* p) const {
  for (; (p = find(p, end_, '<')) != end_; ++p) {
    if (is_end_tag_of_raw_element(p)) return p;
  }
  return end_;
}

// Script data and its escaped states (13.2.5.4, 13.2.5.15 to 13.2.5.31): within "<!--" … "-->", a "<script" makes the next "</script"
// close that one only.
const char* Tokenizer::script_end(const char* p) const {
  enum class Escape : std::uint8_t { none, single, twice };
  Escape escape = Escape::none;
  while (p != end_) {
    if (escape == Escape::none) {
      p = find(p, end_, '<');
      if (p == end_) return end_;
      if (is_end_tag_of_raw_element(p)) return p;
      if (starts_with(p, end_, "<!--")) {
        escape = Escape::single;
        p += 2;  // its own two dashes count: "<!-->" opens and closes
      } else {
        ++p;
      }
      continue;
    }
    if (*p == '-' && end_ - p >= 3 && p[1] == '-' && p[2] == '>') {
      escape = Escape::none;
      p += 3;
      continue;
    }
    if (*p == '<') {
      if (escape == Escape::single && is_end_tag_of_raw_element(p)) return p;
      const std::string_view wanted = escape == Escape::single ? "<script" : "</script";
      const char* const after = p + wanted.size();
      if (starts_with(p, end_, wanted) && after != end_ && ends_name(*after)) {
        escape = escape == Escape::single ? Escape::twice : Escape::single;
        p = after;
        continue;
      }
    }
    ++p;
  }
  return end_;
}

// Reads a tag; false when the page ends inside it (13.2.5: no token then, and nothing after it).
bool Tokenizer::tag(Token& token, const char* name_begin, TokenKind kind) {
  token.kind = kind;
  token.self_closing = false;
  token.attributes.clear();
  const char* const p = scan_tag_name(name_begin, end_, token.key);
  token.name = {name_begin, static_cast<std::size_t>(p - name_begin)};
  if (p != end_ && *p == '>') {
    at_ = p + 1;
    return true;
  }
  return attributes(token, p);
}

// The attribute states (13.2.5.32 to 13.2.5.40). `p` stands after the tag's name.
bool Tokenizer::attributes(Token& token, const char* p) {
  for (;;) {
    p = skip_spaces(p, end_);
    if (p == end_) break;
    if (*p == '>') {
      at_ = p + 1;
      return true;
    }
    if (*p == '/') {
      token.self_closing = p + 1 != end_ && p[1] == '>';
      ++p;
      continue;
    }
    const char* const name = p;
    ++p;  // a leading '=' belongs to the name
    while (p != end_ && *p != '=' && !ends_name(*p)) ++p;
    Attribute attribute;
    attribute.name = {name, static_cast<std::size_t>(p - name)};
    p = skip_spaces(p, end_);
    if (p != end_ && *p == '=') {
      p = skip_spaces(p + 1, end_);
      if (p == end_) break;
      const char quote = *p;
      const char* value = p;
      if (quote == '"' || quote == '\'') {
        value = p + 1;
        p = find(value, end_, quote);
        if (p == end_) break;
        attribute.value = {value, static_cast<std::size_t>(p - value)};
        ++p;
      } else {
        while (p != end_ && *p != '>' && !is_html_space(*p)) ++p;
        attribute.value = {value, static_cast<std::size_t>(p - value)};
      }
    }
    if (token.attributes.size() < attributes_per_tag_max) {
      attribute.key = name_key(attribute.name);
      token.attributes.push_back(attribute);
    }
  }
  at_ = end_;
  return false;
}

}  // namespace orbweaver::html
