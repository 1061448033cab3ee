// Durations and sizes as people write them: a number and a unit, never a bare number for a time. Exact integer
// arithmetic: printing and reading back gives the same value.
#include "node/settings/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "node/text/shown.h"

namespace orbweaver {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;  // in the smallest unit: microseconds, bytes
};

constexpr std::array<Unit, 6> time_units{{
    {"us", 1},
    {"ms", 1'000},
    {"s", 1'000'000},
    {"m", 60'000'000},
    {"h", 3'600'000'000},
    {"d", 86'400'000'000},
}};

constexpr std::array<Unit, 9> size_units{{
    {"B", 1},
    {"KiB", 1ULL << 10},
    {"MiB", 1ULL << 20},
    {"GiB", 1ULL << 30},
    {"TiB", 1ULL << 40},
    {"KB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000},
}};

constexpr std::string_view time_help =
    "write a number and a unit (us, ms, s, m, h or d), for example 300ms, 1.5s or 2m";
constexpr std::string_view size_help =
    "write a number and a unit (B, KiB, MiB, GiB, TiB, KB, MB, GB or TB), for example 64MiB; a bare number is bytes";

// A century in microseconds: far beyond any use, far below the overflow of a Duration (292,000 years).
constexpr std::uint64_t max_microseconds = 100ULL * 365 * 86'400'000'000;
// No size needs more than 63 bits; sums of two sizes cannot overflow.
constexpr std::uint64_t max_bytes = std::numeric_limits<std::int64_t>::max();

bool digit(char c) { return c >= '0' && c <= '9'; }

bool same_unit(std::string_view a, std::string_view b, bool fold_case) {
  const auto fold = [&](char c) {
    return fold_case ? std::tolower(static_cast<unsigned char>(c)) : static_cast<int>(c);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return fold(x) == fold(y); });
}

// "12.5" -> 12 and 5/10. At most 19 digits on each side of the point, so that everything stays within 128 bits.
struct Number {
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;
  std::uint64_t fraction_of = 1;
  std::size_t length = 0;  // characters read
};

std::optional<Number> read_number(std::string_view text) {
  constexpr std::size_t max_digits = 19;
  Number number;
  std::size_t at = 0;
  while (at < text.size() && digit(text[at])) {
    if (at == max_digits) return std::nullopt;
    number.whole = number.whole * 10 + static_cast<std::uint64_t>(text[at++] - '0');
  }
  if (at == 0) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    const std::size_t start = ++at;
    while (at < text.size() && digit(text[at])) {
      if (at - start == max_digits) return std::nullopt;
      number.fraction = number.fraction * 10 + static_cast<std::uint64_t>(text[at++] - '0');
      number.fraction_of *= 10;
    }
    if (at == start) return std::nullopt;
  }
  number.length = at;
  return number;
}

enum class Scaling : std::uint8_t { exact, too_large, too_fine };

// number * factor, exactly; a value above `max` and one that is not whole give different errors.
Scaling scale(const Number& number, std::uint64_t factor, std::uint64_t max, std::uint64_t& out) {
  __extension__ using Wide = unsigned __int128;
  const Wide part = static_cast<Wide>(number.fraction) * factor;
  const Wide total = static_cast<Wide>(number.whole) * factor + part / number.fraction_of;
  if (total > max) return Scaling::too_large;
  if (part % number.fraction_of != 0) return Scaling::too_fine;
  out = static_cast<std::uint64_t>(total);
  return Scaling::exact;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <std::size_t N>
Result<std::uint64_t> parse_quantity(std::string_view text, const std::array<Unit, N>& units, bool fold_case,
                                     bool bare_allowed, std::uint64_t max, std::string_view kind,
                                     std::string_view smallest, std::string_view help) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorCode::invalid_setting, shown(text) + " is not a " + std::string(kind) +
                                                (why.empty() ? "" : " (" + std::string(why) + ")") + ": " +
                                                std::string(help));
  };
  const std::string_view trimmed = trim(text);
  const auto number = read_number(trimmed);
  if (!number) return bad(!trimmed.empty() && trimmed.front() == '-' ? "it is negative" : "");
  const std::string_view unit = trim(trimmed.substr(number->length));
  std::uint64_t factor = bare_allowed ? 1 : 0;
  if (unit.empty() && !bare_allowed) return bad("it has no unit");
  if (!unit.empty()) {
    const auto* const found =
        std::find_if(units.begin(), units.end(), [&](const Unit& u) { return same_unit(u.name, unit, fold_case); });
    if (found == units.end()) return bad("there is no unit " + shown(unit));
    factor = found->factor;
  }
  std::uint64_t value = 0;
  switch (scale(*number, factor, max, value)) {
    case Scaling::too_large:
      return bad("it is too large");
    case Scaling::too_fine:
      return bad("it is finer than a " + std::string(smallest));
    case Scaling::exact:
      break;
  }
  return value;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto value =
      parse_quantity(text, time_units, false, false, max_microseconds, "duration", "microsecond", time_help);
  if (!value) return tl::make_unexpected(value.error());
  return Duration{static_cast<Duration::rep>(*value)};
}

std::string duration_text(Duration duration) {
  const auto count = duration.count();
  if (count == 0) return "0s";
  // Uses unsigned, so that the most negative value has a magnitude too.
  const auto magnitude = count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  const Unit* best = &time_units[0];
  for (const Unit& unit : time_units) {
    // 24h reads better than 1d; days are used from two days on.
    if (magnitude % unit.factor == 0 && (unit.name != "d" || magnitude / unit.factor > 1)) best = &unit;
  }
  return (count < 0 ? "-" : "") + std::to_string(magnitude / best->factor) + std::string(best->name);
}

Result<std::uint64_t> parse_size(std::string_view text) {
  return parse_quantity(text, size_units, true, true, max_bytes, "size", "byte", size_help);
}

std::string size_text(std::uint64_t bytes) {
  // The exact form with the fewest digits; binary units are listed first, so a tie is binary.
  const auto number = [&](const Unit& unit) { return std::to_string(bytes / unit.factor); };
  const Unit* best = &size_units[0];
  for (const Unit& unit : size_units) {
    if (bytes != 0 && bytes % unit.factor == 0 && number(unit).size() < number(*best).size()) best = &unit;
  }
  return number(*best) + std::string(best->name);
}

}  // namespace orbweaver
