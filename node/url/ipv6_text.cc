#include "node/url/ipv6_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "node/url/percent_encode.h"

namespace orbweaver {

using namespace url_text;

namespace {

using Pieces = std::array<std::uint16_t, 8>;

// Reads pieces off the front of `rest_`, as the standard's pointer does.
class Ipv6Parser {
 public:
  explicit Ipv6Parser(std::string_view input) : rest_(input) {}

  std::optional<Pieces> run() {
    if (next_is(':')) {
      if (!rest_.starts_with("::")) return std::nullopt;
      rest_.remove_prefix(2);
      compress_ = ++count_;
    }
    while (!rest_.empty()) {
      if (count_ == 8) return std::nullopt;
      if (next_is(':')) {
        if (compress_) return std::nullopt;
        rest_.remove_prefix(1);
        compress_ = ++count_;
        continue;
      }
      if (!piece()) return std::nullopt;
    }
    return spread();
  }

 private:
  bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }

  // One piece of up to four hex digits and the ':' after it, or the dotted IPv4 tail.
  bool piece() {
    unsigned value = 0;
    std::size_t digits = 0;
    while (digits < 4 && digits < rest_.size() && is(rest_[digits], hex_digit)) {
      value = value << 4 | hex_value(rest_[digits++]);
    }
    if (digits < rest_.size() && rest_[digits] == '.') return digits != 0 && count_ <= 6 && dotted_tail();
    rest_.remove_prefix(digits);
    if (next_is(':')) {
      rest_.remove_prefix(1);
      if (rest_.empty()) return false;
    } else if (!rest_.empty()) {
      return false;
    }
    pieces_[count_++] = static_cast<std::uint16_t>(value);
    return true;
  }

  // "192.0.2.1" to the end of the input: exactly four decimal numbers without leading zeros.
  bool dotted_tail() {
    for (int seen = 0; seen < 4; ++seen) {
      if (seen > 0) {
        if (!next_is('.')) return false;
        rest_.remove_prefix(1);
      }
      unsigned value = 0;
      std::size_t digits = 0;
      for (; digits < rest_.size() && is_ascii_digit(rest_[digits]); ++digits) {
        if (digits > 0 && value == 0) return false;
        value = value * 10 + static_cast<unsigned>(hex_value(rest_[digits]));
        if (value > 255) return false;
      }
      if (digits == 0) return false;
      rest_.remove_prefix(digits);
      pieces_[count_] = static_cast<std::uint16_t>(unsigned{pieces_[count_]} << 8 | value);
      if (seen % 2 == 1) ++count_;
    }
    return rest_.empty();
  }

  // Moves the pieces after "::" to the end.
  std::optional<Pieces> spread() {
    if (!compress_) return count_ == 8 ? std::optional(pieces_) : std::nullopt;
    Pieces spread{};
    const std::size_t after = count_ - *compress_;
    std::copy_n(pieces_.begin(), *compress_, spread.begin());
    std::copy_n(pieces_.begin() + static_cast<std::ptrdiff_t>(*compress_), after,
                spread.end() - static_cast<std::ptrdiff_t>(after));
    return spread;
  }

  std::string_view rest_;
  Pieces pieces_{};
  std::size_t count_ = 0;                // pieces so far; never above 8
  std::optional<std::size_t> compress_;  // where "::" was: the number of pieces before it, including itself
};

struct ZeroRun {
  std::size_t begin = 0;
  std::size_t size = 0;
};

// The first longest run of at least two zero pieces.
ZeroRun longest_zero_run(const Pieces& pieces) {
  ZeroRun best{0, 1};
  for (std::size_t i = 0; i < pieces.size();) {
    std::size_t end = i;
    while (end < pieces.size() && pieces[end] == 0) ++end;
    if (end - i > best.size) best = {i, end - i};
    i = end + 1;
  }
  return best.size > 1 ? best : ZeroRun{8, 0};
}

}  // namespace

bool parse_ipv6(std::string_view input, std::string& host) {
  const std::optional<Pieces> pieces = Ipv6Parser(input).run();
  if (!pieces) return false;
  const ZeroRun zeros = longest_zero_run(*pieces);
  std::string text = "[";
  for (std::size_t i = 0; i < pieces->size(); ++i) {
    if (i == zeros.begin) {
      text += i == 0 ? "::" : ":";
      i += zeros.size - 1;
      continue;
    }
    std::array<char, 4> digits;
    const auto [end, ok] = std::to_chars(digits.data(), digits.data() + digits.size(), (*pieces)[i], 16);
    text.append(digits.data(), end);
    if (i != 7) text += ':';
  }
  text += ']';
  host = std::move(text);
  return true;
}

}  // namespace orbweaver
