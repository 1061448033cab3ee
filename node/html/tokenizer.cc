#include "node/html/tokenizer.h"

#include <array>
#include <cstring>

namespace orbweaver::html {
namespace {

// The classes of a byte that matter to the tokenizer's states, as bits of one table.
enum : std::uint8_t {
  space_bit = 1,
  ends_name_bit = 2,
  ends_attribute_name_bit = 4,
  ends_unquoted_bit = 8,
  alpha_bit = 16,
  upper_bit = 32
};

constexpr std::array<std::uint8_t, 256> make_byte_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (unsigned i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    unsigned bits = 0;
    if (is_html_space(c)) bits |= space_bit | ends_name_bit | ends_attribute_name_bit | ends_unquoted_bit;
    if (c == '/' || c == '>') bits |= ends_name_bit | ends_attribute_name_bit;
    if (c == '=') bits |= ends_attribute_name_bit;
    if (c == '>') bits |= ends_unquoted_bit;
    if (c >= 'A' && c <= 'Z') bits |= alpha_bit | upper_bit;
    if (c >= 'a' && c <= 'z') bits |= alpha_bit;
    classes[i] = static_cast<std::uint8_t>(bits);
  }
  return classes;
}

constexpr auto byte_classes = make_byte_classes();

unsigned class_of(char c) { return byte_classes[static_cast<unsigned char>(c)]; }
bool is_alpha(char c) { return (class_of(c) & alpha_bit) != 0; }
bool ends_name(char c) { return (class_of(c) & ends_name_bit) != 0; }

const char* find(const char* p, const char* end, char c) {
  const void* found = p == end ? nullptr : std::memchr(p, c, static_cast<std::size_t>(end - p));
  return found != nullptr ? static_cast<const char*>(found) : end;
}

bool starts_with(const char* p, const char* end, std::string_view lower) {
  return static_cast<std::size_t>(end - p) >= lower.size() && equals_ignoring_case({p, lower.size()}, lower);
}

// A name's characters are added to its key as they are read; only long names are hashed, once they are complete.
const char* scan_name(const char* p, const char* end, unsigned ends, NameKey& key) {
  const char* const begin = p;
  NameKey packed = 0;
  if (p != end && *p == '\0') {  // U+FFFD, a character of the name (13.2.5.33); as 0 it would not change the key
    packed = 0xFF;
    ++p;
  }
  for (; p != end; ++p) {
    const unsigned bits = class_of(*p);
    if ((bits & ends) != 0) break;
    packed = packed << 8 |
             (static_cast<unsigned char>(*p) + (bits & upper_bit));  // the bit is the distance to the lower case
  }
  const auto length = static_cast<std::size_t>(p - begin);
  key = length <= 8 ? packed : name_key({begin, length});
  return p;
}

const char* skip_spaces(const char* p, const char* end) {
  while (p != end && (class_of(*p) & space_bit) != 0) ++p;
  return p;
}

// `p` is after "<!--". A comment ends at "-->" or "--!>"; "<!-->" and "<!--->" are whole (13.2.5.43 to 13.2.5.52).
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
        at_ = after_bogus_comment(p + 2, end_);  // "</>" is dropped, and ends in the same place
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

// A doctype counts only if nothing but white space, comments and the like comes before it.
void Tokenizer::note_doctype(const char* p, const char* after) {
  const char* const markup = p - 2;
  for (const char* at = skip_spaces(begin_, end_); at < markup; at = skip_spaces(at, end_)) {
    if (*at != '<' || (at[1] != '!' && at[1] != '?')) return;
    const bool comment = markup - at >= 4 && at[1] == '!' && at[2] == '-' && at[3] == '-';
    at = comment ? after_comment(at + 4, end_) : after_bogus_comment(at + 1, end_);
  }
  const bool closed = after != p && after[-1] == '>';
  doctype_ = {p, static_cast<std::size_t>(after - p) - (closed ? 1 : 0)};
}

// `p` is after "<!".
const char* Tokenizer::after_markup_declaration(const char* p, Token& token, bool& is_text) {
  if (end_ - p >= 2 && p[0] == '-' && p[1] == '-') return after_comment(p + 2, end_);
  constexpr std::string_view cdata = "[CDATA[";
  const auto left = static_cast<std::size_t>(end_ - p);
  if (!cdata_allowed_ || left < cdata.size() || std::string_view(p, cdata.size()) != cdata) {
    const char* const after = after_bogus_comment(p, end_);  // a doctype ends at the first '>' too, even in quotes
    if (doctype_.empty() && left > 7 && equals_ignoring_case({p, 7}, "doctype")) note_doctype(p, after);
    return after;
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

// Returns the raw text, if there is any; the end tag is then left to next(). False: continue as data.
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

// `p` is at "</": whether the end tag of the raw text's own element begins here ("appropriate end tag token").
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

// Script data and its escaped states (13.2.5.4, 13.2.5.15 to 13.2.5.31): within "<!--" … "-->", a "<script" is what the
// next "</script" closes.
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
        p += 2;  // its own two dashes count: "<!-->" both opens and closes
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

// Reads a tag; false when the page ends inside it (13.2.5: then there is no token, and nothing follows).
bool Tokenizer::tag(Token& token, const char* name_begin, TokenKind kind) {
  token.kind = kind;
  token.self_closing = false;
  token.attributes.clear();
  const char* const p = scan_name(name_begin, end_, ends_name_bit, token.key);
  token.name = {name_begin, static_cast<std::size_t>(p - name_begin)};
  if (p != end_ && *p == '>') {
    at_ = p + 1;
    return true;
  }
  return attributes(token, p);
}

// The attribute states (13.2.5.32 to 13.2.5.40). `p` is after the tag's name.
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
    NameKey key = 0;
    if (*p == '=') {  // a leading '=' belongs to the name, and no relevant attribute has one
      while (++p != end_ && (class_of(*p) & ends_attribute_name_bit) == 0) {
      }
    } else {
      p = scan_name(p, end_, ends_attribute_name_bit, key);
    }
    const std::string_view name_text(name, static_cast<std::size_t>(p - name));
    std::string_view value;
    p = skip_spaces(p, end_);
    if (p != end_ && *p == '=') {
      p = skip_spaces(p + 1, end_);
      if (p == end_) break;
      const char quote = *p;
      const char* begin = p;
      if (quote == '"' || quote == '\'') {
        begin = ++p;
        p = find(begin, end_, quote);
        if (p == end_) break;
        value = {begin, static_cast<std::size_t>(p - begin)};
        ++p;
      } else {
        while (p != end_ && (class_of(*p) & ends_unquoted_bit) == 0) ++p;
        value = {begin, static_cast<std::size_t>(p - begin)};
      }
    }
    if (token.attributes.size() < max_attributes_per_tag) token.attributes.push_back({name_text, value, key});
  }
  at_ = end_;
  return false;
}

}  // namespace orbweaver::html
