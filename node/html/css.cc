#include "node/html/css.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "node/html/tokenizer.h"

namespace orbweaver::html {
namespace {

constexpr std::size_t max_open = 256;

enum class Kind : std::uint8_t { string, url, function, at_keyword, open, close, semicolon, other, bad };

struct CssToken {
  Kind kind = Kind::other;
  std::string text;  // of a string, url, function or at_keyword: its value, escapes decoded
};

// CSS Syntax 3, section 4.2: newline, whitespace, name code points.
bool is_newline(char c) { return c == '\n' || c == '\r' || c == '\f'; }
bool is_white(char c) { return is_newline(c) || c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
int hex_of(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower_ascii(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
bool is_name_start(char c) {
  const char lower = to_lower_ascii(c);
  return (lower >= 'a' && lower <= 'z') || c == '_' || static_cast<unsigned char>(c) >= 0x80 || c == '\0';
}
bool is_name(char c) { return is_name_start(c) || is_digit(c) || c == '-'; }
bool is_non_printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 1 && byte <= 8) || byte == 0x0b || (byte >= 0x0e && byte <= 0x1f) || byte == 0x7f;
}

class CssTokenizer {
 public:
  explicit CssTokenizer(std::string_view css) : css_(css) {}

  bool next(CssToken& token) {
    token.text.clear();
    skip_blank();
    if (at_ == css_.size()) return false;
    const char c = css_[at_];
    token.kind = Kind::other;
    if (c == '"' || c == '\'') {
      string(token);
    } else if (starts_number(at_)) {
      number();
    } else if (css_.substr(at_).starts_with("-->")) {
      at_ += 3;
    } else if (starts_name(at_)) {
      name_like(token);
    } else if (c == '@' && starts_name(at_ + 1)) {
      ++at_;
      name(token.text);
      token.kind = Kind::at_keyword;
    } else {
      ++at_;
      if (c == '(' || c == '[' || c == '{') token.kind = Kind::open;
      if (c == ')' || c == ']' || c == '}') token.kind = Kind::close;
      if (c == ';') token.kind = Kind::semicolon;
      if (c == '{') token.text.push_back(c);
    }
    return true;
  }

 private:
  char peek(std::size_t at) const { return at < css_.size() ? css_[at] : '\n'; }  // a newline starts nothing
  bool is_escape(std::size_t at) const { return at + 1 < css_.size() && css_[at] == '\\' && !is_newline(css_[at + 1]); }

  // 4.3.9
  bool starts_name(std::size_t at) const {
    if (at >= css_.size()) return false;
    if (css_[at] != '-') return is_name_start(css_[at]) || is_escape(at);
    return at + 1 < css_.size() && (is_name_start(css_[at + 1]) || css_[at + 1] == '-' || is_escape(at + 1));
  }
  // 4.3.10
  bool starts_number(std::size_t at) const {
    if (css_[at] == '+' || css_[at] == '-') ++at;
    return is_digit(peek(at)) || (peek(at) == '.' && is_digit(peek(at + 1)));
  }

  // White space and comments; an unclosed comment extends to the end (4.3.2).
  void skip_blank() {
    while (at_ < css_.size()) {
      if (is_white(css_[at_])) {
        ++at_;
      } else if (css_.substr(at_).starts_with("/*")) {
        const std::size_t end = css_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? css_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  // After a '\' that starts an escape (4.3.7).
  void escape(std::string& out) {
    const int first = hex_of(css_[at_]);
    if (first < 0) {
      if (css_[at_] == '\0') {
        append_utf8(0xFFFD, out);
      } else {
        out += css_[at_];  // the other bytes of its UTF-8 sequence follow unchanged
      }
      ++at_;
      return;
    }
    char32_t code_point = 0;
    for (int digits = 0; digits < 6 && at_ < css_.size() && hex_of(css_[at_]) >= 0; ++digits, ++at_)
      code_point = code_point * 16 + static_cast<char32_t>(hex_of(css_[at_]));
    if (css_.substr(at_).starts_with("\r\n")) {
      at_ += 2;
    } else if (at_ < css_.size() && is_white(css_[at_])) {
      ++at_;
    }
    const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    append_utf8(code_point == 0 || is_surrogate || code_point > 0x10FFFF ? U'\uFFFD' : code_point, out);
  }

  // 4.3.11
  void name(std::string& out) {
    while (at_ < css_.size()) {
      if (is_name(css_[at_])) {
        out += css_[at_++];
      } else if (is_escape(at_)) {
        ++at_;
        escape(out);
      } else {
        return;
      }
    }
  }

  // 4.3.3, with the unit that follows.
  void number() {
    if (css_[at_] == '+' || css_[at_] == '-') ++at_;
    while (is_digit(peek(at_))) ++at_;
    if (peek(at_) == '.' && is_digit(peek(at_ + 1))) {
      ++at_;
      while (is_digit(peek(at_))) ++at_;
    }
    if (to_lower_ascii(peek(at_)) == 'e') {
      const std::size_t sign = peek(at_ + 1) == '+' || peek(at_ + 1) == '-' ? 1 : 0;
      if (is_digit(peek(at_ + 1 + sign))) {
        at_ += 1 + sign;
        while (is_digit(peek(at_))) ++at_;
      }
    }
    std::string unit;
    if (starts_name(at_)) name(unit);
  }

  // 4.3.5
  void string(CssToken& token) {
    const char quote = css_[at_++];
    token.kind = Kind::string;
    while (at_ < css_.size()) {
      const char c = css_[at_];
      if (c == quote) {
        ++at_;
        return;
      }
      if (is_newline(c)) {
        token.kind = Kind::bad;
        return;
      }
      ++at_;
      if (c != '\\') {
        token.text += c;
      } else if (at_ < css_.size() && is_newline(css_[at_])) {
        at_ += css_.substr(at_).starts_with("\r\n") ? 2 : 1;
      } else if (at_ < css_.size()) {
        escape(token.text);
      }
    }
  }

  // 4.3.4
  void name_like(CssToken& token) {
    name(token.text);
    if (at_ == css_.size() || css_[at_] != '(') return;
    ++at_;
    token.kind = Kind::function;
    if (!equals_ignoring_case(token.text, "url")) return;
    std::size_t after = at_;
    while (after < css_.size() && is_white(css_[after])) ++after;
    if (after < css_.size() && (css_[after] == '"' || css_[after] == '\'')) return;
    at_ = after;
    token.text.clear();
    url(token);
  }

  // 4.3.6, after "url(" and white space.
  void url(CssToken& token) {
    token.kind = Kind::url;
    while (at_ < css_.size()) {
      const char c = css_[at_];
      if (c == ')') {
        ++at_;
        return;
      }
      if (is_white(c)) {
        while (at_ < css_.size() && is_white(css_[at_])) ++at_;
        if (at_ == css_.size()) return;
        if (css_[at_] == ')') {
          ++at_;
          return;
        }
        return bad_url(token);
      }
      if (c == '"' || c == '\'' || c == '(' || is_non_printable(c)) return bad_url(token);
      if (c == '\\') {
        if (!is_escape(at_)) return bad_url(token);
        ++at_;
        escape(token.text);
      } else {
        token.text += c;
        ++at_;
      }
    }
  }

  // 4.3.14
  void bad_url(CssToken& token) {
    token.kind = Kind::bad;
    while (at_ < css_.size() && css_[at_] != ')') at_ += is_escape(at_) ? 2 : 1;
    at_ = std::min(at_ + 1, css_.size());
  }

  std::string_view css_;
  std::size_t at_ = 0;
};

bool holds_strings_that_are_urls(std::string_view function) {
  for (const std::string_view name : {"url", "src", "image-set", "-webkit-image-set"})
    if (equals_ignoring_case(function, name)) return true;
  return false;
}

}  // namespace

std::vector<CssUrl> css_urls(std::string_view css) {
  std::vector<CssUrl> urls;
  std::vector<bool> open;    // for each open function or block: whether its strings are URLs
  std::size_t deeper = 0;    // the number of open ones beyond max_open
  bool import_next = false;  // the next token may be an @import's URL
  bool import_url = false;   // within the url() of an @import
  bool names_only = false;   // within an @namespace
  CssToken token;
  CssTokenizer tokenizer(css);
  const auto add = [&](bool import) {
    if (!token.text.empty() && token.text.front() != '#' && !names_only) urls.push_back({token.text, import});
  };
  while (tokenizer.next(token)) {
    const bool import = std::exchange(import_next, false);
    switch (token.kind) {
      case Kind::url:
        add(import);
        break;
      case Kind::string:
        if (import) {
          add(true);
        } else if (deeper == 0 && !open.empty() && open.back()) {
          add(import_url);
        }
        break;
      case Kind::at_keyword:
        import_next = equals_ignoring_case(token.text, "import");
        names_only = equals_ignoring_case(token.text, "namespace");
        break;
      case Kind::function:
      case Kind::open:
        if (token.text == "{" && token.kind == Kind::open) names_only = false;
        if (token.kind == Kind::function && import) import_url = true;
        if (open.size() < max_open) {
          open.push_back(token.kind == Kind::function && holds_strings_that_are_urls(token.text));
        } else {
          ++deeper;
        }
        break;
      case Kind::close:
        import_url = false;
        if (deeper > 0) {
          --deeper;
        } else if (!open.empty()) {
          open.pop_back();
        }
        break;
      case Kind::semicolon:
        names_only = false;
        break;
      default:
        break;
    }
  }
  return urls;
}

}  // namespace orbweaver::html
