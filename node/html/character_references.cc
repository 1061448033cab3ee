// Character references (HTML standard, 13.2.5.72 to 13.2.5.80) in text and in attribute values.
#include <algorithm>
#include <array>

#include "node/html/tokenizer.h"

namespace orbweaver::html {
namespace {

struct NamedReference {
  std::string_view name;  // with its ';' where the standard's name has one
  char32_t first;
  char32_t second;
};

constexpr NamedReference named_references[] = {
#include "node/html/named_references.inc"
};

// The length of the longest name without ';' ("Aacute") and with it ("CounterClockwiseContourIntegral;").
constexpr std::size_t max_legacy_name = 6;
constexpr std::size_t max_name = 32;

const NamedReference* find_named(std::string_view name) {
  const auto* found = std::lower_bound(std::begin(named_references), std::end(named_references), name,
                                       [](const NamedReference& r, std::string_view n) { return r.name < n; });
  return found != std::end(named_references) && found->name == name ? found : nullptr;
}

// "&#128;" and its like mean windows-1252 (13.2.5.80).
constexpr std::array<char16_t, 32> c1_replacements = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                      0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                                      0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                      0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

char32_t numeric_meaning(std::uint32_t n) {
  if (n == 0 || n > 0x10FFFF || (n >= 0xD800 && n <= 0xDFFF)) return 0xFFFD;
  return n >= 0x80 && n <= 0x9F ? c1_replacements[n - 0x80] : n;
}

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int digit_value(char c, unsigned base) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = to_lower_ascii(c);
  return base == 16 && low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

// `p` is after "&#". Returns where to continue: at the '&' itself when there is no digit.
const char* numeric(const char* p, const char* end, std::string& out) {
  const char* const ampersand = p - 2;
  unsigned base = 10;
  if (p != end && to_lower_ascii(*p) == 'x') {
    base = 16;
    ++p;
  }
  const char* const digits = p;
  std::uint32_t n = 0;
  for (; p != end; ++p) {
    const int d = digit_value(*p, base);
    if (d < 0) break;
    n = std::min<std::uint32_t>(n * base + static_cast<std::uint32_t>(d), 0x110000);  // capped: still too large
  }
  if (p == digits) return ampersand;
  append_utf8(numeric_meaning(n), out);
  return p != end && *p == ';' ? p + 1 : p;
}

void append_named(const NamedReference& r, std::string& out) {
  append_utf8(r.first, out);
  if (r.second != 0) append_utf8(r.second, out);
}

// `p` is at the '&'. Appends the meaning and returns where to continue; returns `p` when it is not a reference.
const char* reference(const char* p, const char* end, bool in_attribute, std::string& out) {
  const char* const name = p + 1;
  if (name == end) return p;
  if (*name == '#') return numeric(name + 1, end, out);
  const char* run = name;
  while (run != end && is_alnum(*run) && static_cast<std::size_t>(run - name) < max_name) ++run;
  const auto length = static_cast<std::size_t>(run - name);
  if (length == 0) return p;
  if (run != end && *run == ';') {
    if (const auto* r = find_named({name, length + 1})) {
      append_named(*r, out);
      return run + 1;
    }
  }
  // Names that end in ';' match only the whole run, so now only the old names without ';' remain.
  for (std::size_t n = std::min(length, max_legacy_name); n >= 2; --n) {
    const auto* r = find_named({name, n});
    if (r == nullptr) continue;
    const char* const after = name + n;
    if (in_attribute && after != end && (*after == '=' || is_alnum(*after))) return p;
    append_named(*r, out);
    return after;
  }
  return p;
}

void decode(std::string_view raw, bool in_attribute, std::string& out) {
  const char* p = raw.data();
  const char* const end = p + raw.size();
  const char* plain = p;
  while (p != end) {
    if (*p != '&' && *p != '\r' && *p != '\0') {
      ++p;
      continue;
    }
    out.append(plain, p);
    if (*p == '&') {
      const char* const after = reference(p, end, in_attribute, out);
      plain = after;
      p = std::max(after, p + 1);
      continue;
    }
    if (*p == '\r') {
      if (p + 1 == end || p[1] != '\n') out += '\n';
    } else if (in_attribute) {
      append_utf8(0xFFFD, out);
    }
    plain = ++p;
  }
  out.append(plain, p);
}

}  // namespace

void append_utf8(char32_t c, std::string& out) {
  const auto byte = [&out](char32_t b) { out += static_cast<char>(static_cast<unsigned char>(b)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | c >> 6);
    byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    byte(0xE0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3F));
    byte(0x80 | (c & 0x3F));
  } else {
    byte(0xF0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3F));
    byte(0x80 | (c >> 6 & 0x3F));
    byte(0x80 | (c & 0x3F));
  }
}

void decode_text(std::string_view raw, std::string& out) { decode(raw, false, out); }
void decode_attribute(std::string_view raw, std::string& out) { decode(raw, true, out); }

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) { return to_lower_ascii(a) == b; });
}

}  // namespace orbweaver::html
