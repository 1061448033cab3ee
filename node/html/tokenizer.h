// HTML tokenizer: the WHATWG tokenizer's states (HTML standard, 13.2.5) as far as links and text need them.
//
// It reads a whole page in memory one token at a time and copies nothing: names, attribute values and text are views of
// the page. Callers that need their text use decode_text() and decode_attribute(). What tree construction decides for
// the tokenizer (raw text after <script>, whether "<![CDATA[" opens a section) is set by its driver: see TreeContext.
// Thread rule: one owner. Lifetime: the page outlives the tokenizer and its tokens. Memory: the kept attributes,
// max_attributes_per_tag. Cost: about a nanosecond per byte; linear in the page, whatever its contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orbweaver::html {

// The name of a tag or attribute, ASCII-lower-cased, in one word: the bytes themselves if there are up to 8, else a
// hash of them with the top bit set. Two long names with the same hash are treated as one; a page can only fool itself
// that way.
using NameKey = std::uint64_t;

constexpr char to_lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
constexpr bool is_html_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }

constexpr NameKey name_key(std::string_view name) {
  if (name.size() <= 8) {
    NameKey key = 0;
    for (const char c : name) key = key << 8 | static_cast<unsigned char>(to_lower_ascii(c));
    return key;
  }
  NameKey hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(to_lower_ascii(c))) * 0x100000001B3;
  return hash | 0x8000000000000000;
}

// The number of attributes that are kept per tag; later ones are skipped. Real tags have fewer than 50.
inline constexpr std::size_t max_attributes_per_tag = 256;

struct Attribute {
  std::string_view name;   // as written
  std::string_view value;  // as written, without its quotes
  NameKey key = 0;         // 0 for names that begin with '='
};

enum class TokenKind : std::uint8_t { text, start_tag, end_tag };

// How the tokenizer reads the text after a start tag (HTML standard, 13.2.5.1 to 13.2.5.5). cdata is only for text
// tokens.
enum class TextModel : std::uint8_t { data, rcdata, rawtext, script, plaintext, cdata };

struct Token {
  TokenKind kind = TokenKind::text;
  TextModel model = TextModel::data;  // text: its model. Only data and rcdata have character references
  bool self_closing = false;
  NameKey key = 0;                    // tags
  std::string_view name;              // tags: as written
  std::string_view text;              // text: as written
  std::vector<Attribute> attributes;  // start tags: in order; if a name is repeated, the first one counts

  // The value as written of the first attribute of that name; null if there is none.
  const std::string_view* attribute(NameKey wanted) const {
    for (const Attribute& a : attributes) {
      if (a.key == wanted) return &a.value;
    }
    return nullptr;
  }
};

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view page) : at_(page.data()), end_(page.data() + page.size()), begin_(page.data()) {}

  // The next token, in `token` (whose vector is reused); false at the end. Comments and doctypes are skipped.
  bool next(Token& token);

  // After a start tag: continues in `model` until the end tag of that element.
  void enter(TextModel model, NameKey element) {
    model_ = model;
    raw_element_ = element;
  }
  // Whether the current node is outside the HTML namespace, so that "<![CDATA[" opens a section.
  void allow_cdata(bool allowed) { cdata_allowed_ = allowed; }
  // The page's doctype, without "<!" and '>', if only white space, comments and the like come before it; else empty.
  std::string_view doctype() const { return doctype_; }

 private:
  bool next_raw(Token& token);
  bool tag(Token& token, const char* name_begin, TokenKind kind);
  bool attributes(Token& token, const char* p);
  const char* after_markup_declaration(const char* p, Token& token, bool& is_text);
  void note_doctype(const char* p, const char* after);
  const char* raw_text_end(const char* p) const;
  const char* script_end(const char* p) const;
  bool is_end_tag_of_raw_element(const char* p) const;

  const char* at_;
  const char* end_;
  TextModel model_ = TextModel::data;
  NameKey raw_element_ = 0;
  bool cdata_allowed_ = false;
  const char* begin_;
  std::string_view doctype_;
};

// Appends `raw` to `out` with character references decoded, CR and CR LF as LF (13.2.3.5), and NUL left out (as "in
// body" does).
void decode_text(std::string_view raw, std::string& out);
// The same for an attribute's value: references by the attribute rules (13.2.5.73), NUL becomes U+FFFD.
void decode_attribute(std::string_view raw, std::string& out);
// ASCII case-insensitive comparison with lower-case text.
bool equals_ignoring_case(std::string_view text, std::string_view lower);
void append_utf8(char32_t code_point, std::string& out);

}  // namespace orbweaver::html
