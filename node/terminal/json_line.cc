#include "node/terminal/json_line.h"

#include <charconv>
#include <istream>

namespace orbweaver {

namespace {

// The code unit of a "\u" escape of four digits at `at`; nothing when there is none.
std::optional<unsigned> unicode_escape(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned unit = 0;
  const char* const end = text.data() + at + 6;
  const auto [stopped, error] = std::from_chars(text.data() + at + 2, end, unit, 16);
  return error == std::errc{} && stopped == end ? std::optional(unit) : std::nullopt;
}

bool is_high(std::optional<unsigned> unit) { return unit && *unit >= 0xd800 && *unit <= 0xdbff; }
bool is_low(std::optional<unsigned> unit) { return unit && *unit >= 0xdc00 && *unit <= 0xdfff; }

std::string with_lone_surrogates_replaced(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i + 1 < out.size();) {
    if (out[i] != '\\') {
      ++i;
      continue;
    }
    const std::optional<unsigned> unit = unicode_escape(out, i);
    if (is_high(unit) && is_low(unicode_escape(out, i + 6))) {
      i += 12;
      continue;
    }
    if (is_high(unit) || is_low(unit)) out.replace(i + 2, 4, "fffd");
    i += unit ? 6 : 2;
  }
  return out;
}

}  // namespace

bool read_line(std::istream& in, std::string& line, std::size_t max_bytes) {
  line.clear();
  bool any = false;
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    any = true;
    if (c == '\n') return true;
    if (line.size() <= max_bytes) line.push_back(static_cast<char>(c));
  }
  return any;
}

std::optional<nlohmann::json> parse_json(std::string_view text) {
  const bool escapes = text.find("\\u") != std::string_view::npos;
  const std::string mended = escapes ? with_lone_surrogates_replaced(text) : std::string(text);
  nlohmann::json value = nlohmann::json::parse(mended, nullptr, false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

}  // namespace orbweaver
