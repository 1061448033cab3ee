#include "node/charset/encoding_sniffer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "node/charset/charset.h"
#include "node/charset/charset_labels.h"
#include "node/html/tree_context.h"

namespace orbweaver {
namespace {

using html::is_html_space;
using html::to_lower_ascii;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_html_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_html_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower_ascii);
  return out;
}

// A <meta> cannot mean UTF-16: it was readable as ASCII (13.2.3.2, steps 13 and 14 of "meta").
std::optional<std::string> charset_from_meta_label(std::string_view label) {
  auto name = charset_from_label(label);
  if (name && (*name == "utf-16le" || *name == "utf-16be")) return "utf-8";
  if (name && *name == "x-user-defined") return "windows-1252";
  return name;
}

// The label in <meta content="text/html; charset=…"> (2.6.5, "extracting a character encoding from a meta element").
std::optional<std::string_view> label_in_meta_content(std::string_view content) {
  constexpr std::string_view word = "charset";
  for (std::size_t at = 0; at + word.size() <= content.size(); ++at) {
    if (!html::equals_ignoring_case(content.substr(at, word.size()), word)) continue;
    std::string_view rest = content.substr(at + word.size());
    while (!rest.empty() && is_html_space(rest.front())) rest.remove_prefix(1);
    if (rest.empty() || rest.front() != '=') continue;
    rest.remove_prefix(1);
    while (!rest.empty() && is_html_space(rest.front())) rest.remove_prefix(1);
    if (rest.empty()) return std::nullopt;
    if (rest.front() == '"' || rest.front() == '\'') {
      const std::size_t end = rest.find(rest.front(), 1);
      if (end == std::string_view::npos) return std::nullopt;
      return rest.substr(1, end - 1);
    }
    return rest.substr(0, rest.find_first_of("; \t\n\r\f"));
  }
  return std::nullopt;
}

// Collects a <meta>'s attributes, one after another.
class MetaCharset {
 public:
  void attribute(std::string_view name, std::string_view value) {
    if (name == "http-equiv") {
      is_content_type_ = is_content_type_ || html::equals_ignoring_case(value, "content-type");
    } else if (name == "content" && !charset_) {
      if (const auto label = label_in_meta_content(value)) {
        charset_ = charset_from_meta_label(*label);
        if (charset_) needs_content_type_ = true;
      }
    } else if (name == "charset") {
      charset_ = charset_from_meta_label(value);
      needs_content_type_ = false;
      has_charset_ = true;
    }
  }
  std::optional<std::string> result() const {
    if (!needs_content_type_ && !has_charset_) return std::nullopt;
    return needs_content_type_ && !is_content_type_ ? std::nullopt : charset_;
  }

 private:
  std::optional<std::string> charset_;
  bool is_content_type_ = false;
  bool needs_content_type_ = false;
  bool has_charset_ = false;
};

// The prescan's own, simpler parsing of markup (13.2.3.2). Everything stops at the window's end.
class Prescan {
 public:
  explicit Prescan(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::string> run() {
    using namespace std::literals;
    if (bytes_.starts_with("<\0?\0x\0"sv)) return "utf-16le";
    if (bytes_.starts_with("\0<\0?\0x"sv)) return "utf-16be";
    while ((at_ = std::min(bytes_.find('<', at_), bytes_.size())) < bytes_.size()) {
      const std::string_view rest = bytes_.substr(at_);
      if (rest.starts_with("<!--")) {
        // The dashes of "<!--" may also be those of "-->".
        const std::size_t end = bytes_.find("-->", at_ + 2);
        if (end == std::string_view::npos) return std::nullopt;
        at_ = end + 3;
      } else if (opens_meta(rest)) {
        at_ += 5;
        if (auto charset = meta()) return charset;
      } else if (opens_tag(rest)) {
        at_ = std::min(bytes_.find_first_of(" \t\n\r\f>", at_), bytes_.size());
        while (next_attribute()) {
        }
      } else if (rest.size() > 1 && (rest[1] == '!' || rest[1] == '/' || rest[1] == '?')) {
        at_ = std::min(bytes_.find('>', at_), bytes_.size());
      } else {
        ++at_;
      }
    }
    return std::nullopt;
  }

 private:
  static bool is_alpha(char c) { return to_lower_ascii(c) >= 'a' && to_lower_ascii(c) <= 'z'; }
  static bool opens_meta(std::string_view rest) {
    return rest.size() > 5 && html::equals_ignoring_case(rest.substr(0, 5), "<meta") &&
           (is_html_space(rest[5]) || rest[5] == '/');
  }
  static bool opens_tag(std::string_view rest) {
    return rest.size() > 1 && (is_alpha(rest[1]) || (rest[1] == '/' && rest.size() > 2 && is_alpha(rest[2])));
  }

  std::optional<std::string> meta() {
    MetaCharset found;
    std::vector<std::string> seen;
    while (next_attribute()) {
      if (std::find(seen.begin(), seen.end(), name_) != seen.end()) continue;
      seen.push_back(name_);
      found.attribute(name_, value_);
    }
    // A tag that is cut off by the window does not count.
    return at_ < bytes_.size() ? found.result() : std::nullopt;
  }

  // "Get an attribute" (13.2.3.2): into name_ and value_, in lower case. False at the tag's '>' or at the window's end.
  bool next_attribute() {
    name_.clear();
    value_.clear();
    while (at_ < bytes_.size() && (is_html_space(bytes_[at_]) || bytes_[at_] == '/')) ++at_;
    if (at_ >= bytes_.size() || bytes_[at_] == '>') return false;
    for (; at_ < bytes_.size(); ++at_) {
      const char c = bytes_[at_];
      if ((c == '=' && !name_.empty()) || is_html_space(c)) break;
      if (c == '/' || c == '>') return true;
      name_ += to_lower_ascii(c);
    }
    skip_spaces();
    if (at_ >= bytes_.size() || bytes_[at_] != '=') return at_ < bytes_.size();
    ++at_;
    skip_spaces();
    if (at_ >= bytes_.size()) return false;
    return value();
  }

  bool value() {
    const char quote = bytes_[at_];
    if (quote == '"' || quote == '\'') {
      const std::size_t end = bytes_.find(quote, at_ + 1);
      if (end == std::string_view::npos) {
        at_ = bytes_.size();
        return false;
      }
      value_ = lower_case(bytes_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return true;
    }
    const std::size_t end = std::min(bytes_.find_first_of(" \t\n\r\f>", at_), bytes_.size());
    value_ = lower_case(bytes_.substr(at_, end - at_));
    at_ = end;
    return at_ < bytes_.size();
  }

  void skip_spaces() {
    while (at_ < bytes_.size() && is_html_space(bytes_[at_])) ++at_;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string name_;
  std::string value_;
};

// The length of the UTF-8 sequence at `p` (Unicode, table 3-7), 0 when it is malformed.
std::size_t utf8_sequence_bytes(const unsigned char* p, const unsigned char* end) {
  const auto left = static_cast<std::size_t>(end - p);
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return i < left && p[i] >= low && p[i] <= high;
  };
  const unsigned lead = *p;
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool second = lead == 0xE0 ? continues(1, 0xA0) : lead == 0xED ? continues(1, 0x80, 0x9F) : continues(1);
    return second && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool second = lead == 0xF0 ? continues(1, 0x90) : lead == 0xF4 ? continues(1, 0x80, 0x8F) : continues(1);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::optional<std::string> charset_from_label(std::string_view label) {
  const std::string_view name = html::encoding_of_label(lower_case(trimmed(label)));
  return name.empty() ? std::nullopt : std::optional<std::string>(name);
}

namespace html {

std::optional<std::string> charset_from_bom(std::string_view bytes, std::size_t& bom_bytes) {
  bom_bytes = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 2;
  if (bom_bytes == 3) return "utf-8";
  if (bytes.starts_with("\xFE\xFF")) return "utf-16be";
  if (bytes.starts_with("\xFF\xFE")) return "utf-16le";
  bom_bytes = 0;
  return std::nullopt;
}

// The first parameter of that name counts. A MIME type has no spaces around '=', but servers send them.
std::optional<std::string> charset_from_content_type(std::string_view content_type) {
  std::size_t at = content_type.find(';');
  while (at < content_type.size()) {
    std::string_view rest = content_type.substr(at + 1);
    const std::size_t name_end = std::min(rest.find_first_of(";="), rest.size());
    const std::string_view name = trimmed(rest.substr(0, name_end));
    at += 1 + name_end;
    if (name_end == rest.size() || rest[name_end] == ';') continue;
    rest = content_type.substr(at + 1);
    const std::string_view value = trimmed(rest);
    std::string_view label;
    std::size_t value_end = 0;
    if (!value.empty() && (value.front() == '"' || value.front() == '\'')) {
      const auto begin = static_cast<std::size_t>(value.data() - rest.data()) + 1;
      const std::size_t end = std::min(rest.find(value.front(), begin), rest.size());
      label = rest.substr(begin, end - begin);
      value_end = std::min(rest.find(';', end), rest.size());
    } else {
      value_end = std::min(rest.find(';'), rest.size());
      label = rest.substr(0, value_end);
    }
    if (equals_ignoring_case(name, "charset")) return charset_from_label(label);
    at += 1 + value_end;
  }
  return std::nullopt;
}

std::optional<std::string> charset_from_xml_declaration(std::string_view bytes) {
  if (!bytes.starts_with("<?xml") || bytes.find('>') == std::string_view::npos) return std::nullopt;
  constexpr std::string_view word = "encoding";
  const std::size_t at = bytes.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const auto skip_blanks = [](std::string_view text) {
    while (!text.empty() && static_cast<unsigned char>(text.front()) <= 0x20) text.remove_prefix(1);
    return text;
  };
  std::string_view rest = skip_blanks(bytes.substr(at + word.size()));
  if (!rest.starts_with('=')) return std::nullopt;
  rest = skip_blanks(rest.substr(1));
  if (!rest.starts_with('"') && !rest.starts_with('\'')) return std::nullopt;
  const std::size_t end = rest.find(rest.front(), 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view label = rest.substr(1, end - 1);
  if (std::any_of(label.begin(), label.end(), [](char c) { return static_cast<unsigned char>(c) <= 0x20; }))
    return std::nullopt;
  auto charset = charset_from_label(label);
  if (charset && charset->starts_with("utf-16")) return "utf-8";  // it was readable as ASCII
  return charset;
}

std::optional<std::string> charset_from_prescan(std::string_view bytes) {
  bytes = bytes.substr(0, max_prescan_bytes);
  if (auto charset = Prescan(bytes).run()) return charset;
  return charset_from_xml_declaration(bytes);
}

std::optional<std::string> charset_from_late_meta(std::string_view bytes) {
  Tokenizer tokenizer(bytes.substr(0, max_late_meta_bytes));
  TreeContext context(tokenizer);
  Token token;
  while (tokenizer.next(token)) {
    if (token.kind == TokenKind::text) continue;
    if (token.kind == TokenKind::end_tag) {
      context.end_tag(token);
      tokenizer.allow_cdata(context.in_foreign_content());
      continue;
    }
    const TreeContext::Verdict verdict = context.start_tag(token);
    tokenizer.allow_cdata(context.in_foreign_content());
    if (verdict.model != TextModel::data) tokenizer.enter(verdict.model, token.key);
    if (!verdict.inserted || verdict.tag != Tag::meta) continue;
    MetaCharset found;
    for (const NameKey name : {name_key("http-equiv"), name_key("content"), name_key("charset")}) {
      const std::string_view* value = token.attribute(name);
      if (value == nullptr) continue;
      found.attribute(name == name_key("charset")   ? "charset"
                      : name == name_key("content") ? "content"
                                                    : "http-equiv",
                      *value);
    }
    if (auto charset = found.result()) return charset;
  }
  return std::nullopt;
}

std::optional<std::string> charset_from_css(std::string_view bytes) {
  constexpr std::string_view begin = "@charset \"";
  if (!bytes.starts_with(begin)) return std::nullopt;
  const std::string_view rest = bytes.substr(begin.size(), max_prescan_bytes - begin.size());
  const std::size_t end = rest.find('"');
  if (end == std::string_view::npos || !rest.substr(end).starts_with("\";")) return std::nullopt;
  std::optional<std::string> charset = charset_from_label(rest.substr(0, end));
  if (charset && charset->starts_with("utf-16")) return "utf-8";
  return charset;
}

Utf8Evidence utf8_evidence(std::string_view bytes) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* const end = p + bytes.size();
  bool ascii = true;
  while (p != end) {
    std::uint64_t word = 0;
    while (end - p >= 8) {
      std::memcpy(&word, p, 8);
      if ((word & 0x8080808080808080) != 0) break;
      p += 8;
    }
    if (p == end) break;
    if (*p >= 0x80) ascii = false;
    const std::size_t length = utf8_sequence_bytes(p, end);
    if (length == 0) return Utf8Evidence::invalid;
    p += length;
  }
  return ascii ? Utf8Evidence::ascii : Utf8Evidence::valid;
}

}  // namespace html
}  // namespace orbweaver
