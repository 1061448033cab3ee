#include "node/text/web_date.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace orbweaver {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view trim(std::string_view text) {
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// Reads a text from its start.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A number of `least` to `most` digits, followed by no further digit.
  std::optional<int> number(std::size_t least, std::size_t most) {
    std::size_t digits = 0;
    while (digits < rest_.size() && digit(rest_[digits])) ++digits;
    if (digits < least || digits > most) return std::nullopt;
    int value = 0;
    std::from_chars(rest_.data(), rest_.data() + digits, value);
    rest_.remove_prefix(digits);
    return value;
  }
  // A run of letters.
  std::string_view word() {
    std::size_t end = 0;
    while (end < rest_.size() && lower(rest_[end]) >= 'a' && lower(rest_[end]) <= 'z') ++end;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }
  void skip(std::string_view of) { rest_.remove_prefix(std::min(rest_.find_first_not_of(of), rest_.size())); }

 private:
  std::string_view rest_;
};

std::optional<Time> day_of(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return Time(std::chrono::sys_days(date));
}

// "19:20", "19:20:30", "19:20:30.45".
std::optional<Duration> clock_of(Cursor& at) {
  const auto hours = at.number(1, 2);
  if (!hours || !at.take(':')) return std::nullopt;
  const auto minutes = at.number(2, 2);
  std::optional<int> seconds = 0;
  if (at.take(':')) seconds = at.number(2, 2);
  if (!minutes || !seconds || *hours > 24 || *minutes > 59 || *seconds > 60) return std::nullopt;
  if (at.take('.') || at.take(',')) at.skip("0123456789");  // fractions of a second do not matter here
  return std::chrono::hours(*hours) + std::chrono::minutes(*minutes) + std::chrono::seconds(*seconds);
}

// "+01:00", "-0800": east of Greenwich is positive.
std::optional<Duration> offset_of(Cursor& at) {
  const bool west = at.peek() == '-';
  if (!at.take('+') && !at.take('-')) return std::nullopt;
  auto hours = at.number(2, 4);
  if (!hours) return std::nullopt;
  int minutes = 0;
  if (*hours > 99 || !at.take(':')) {
    if (*hours > 99) {
      minutes = *hours % 100;
      hours = *hours / 100;
    } else if (digit(at.peek())) {
      return std::nullopt;
    }
  } else {
    const auto after = at.number(2, 2);
    if (!after) return std::nullopt;
    minutes = *after;
  }
  if (*hours > 24 || minutes > 59) return std::nullopt;
  const Duration offset = std::chrono::hours(*hours) + std::chrono::minutes(minutes);
  return west ? -offset : offset;
}

std::optional<Duration> zone_of(Cursor& at) {
  if (at.peek() == '+' || at.peek() == '-') return offset_of(at);
  struct Zone {
    std::string_view name;
    int hours;
  };
  constexpr std::array<Zone, 12> zones{{{"gmt", 0},  // RFC 822, 5.1
                                        {"ut", 0},
                                        {"utc", 0},
                                        {"z", 0},
                                        {"est", -5},
                                        {"edt", -4},
                                        {"cst", -6},
                                        {"cdt", -5},
                                        {"mst", -7},
                                        {"mdt", -6},
                                        {"pst", -8},
                                        {"pdt", -7}}};
  const std::string_view word = at.word();
  for (const Zone& zone : zones) {
    if (std::equal(word.begin(), word.end(), zone.name.begin(), zone.name.end(),
                   [](char a, char b) { return lower(a) == b; }))
      return std::chrono::hours(zone.hours);
  }
  return std::nullopt;
}

std::optional<int> month_of(std::string_view word) {
  constexpr std::string_view months = "janfebmaraprmayjunjulaugsepoctnovdec";
  if (word.size() < 3) return std::nullopt;
  std::array<char, 3> key{};
  std::transform(word.begin(), word.begin() + 3, key.begin(), lower);
  const std::size_t at = months.find(std::string_view(key.data(), key.size()));
  if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
  return static_cast<int>(at / 3) + 1;
}

}  // namespace

std::optional<Time> parse_w3c_date(std::string_view text) {
  Cursor at(trim(text));
  const auto year = at.number(4, 4);
  if (!year) return std::nullopt;
  std::optional<int> month = 1;
  std::optional<int> day = 1;
  if (at.take('-')) {
    month = at.number(1, 2);
    if (month && at.take('-')) day = at.number(1, 2);
  }
  if (!month || !day) return std::nullopt;
  const std::optional<Time> date = day_of(*year, *month, *day);
  if (!date || at.done()) return date;
  if (!at.take('T') && !at.take('t') && !at.take(' ')) return std::nullopt;
  at.skip(" ");
  const std::optional<Duration> clock = clock_of(at);
  if (!clock) return std::nullopt;
  at.skip(" ");
  if (at.done()) return *date + *clock;
  const std::optional<Duration> zone = zone_of(at);
  if (!zone || !at.done()) return std::nullopt;
  return *date + *clock - *zone;
}

std::optional<Time> parse_mail_date(std::string_view text) {
  Cursor at(trim(text));
  if (!at.word().empty()) at.skip(", \t");  // the day of the week adds nothing
  const auto day = at.number(1, 2);
  at.skip(" \t-");
  const auto month = month_of(at.word());
  at.skip(" \t-");
  auto year = at.number(2, 4);
  if (!day || !month || !year) return std::nullopt;
  // Two digits: RFC 5322, 4.3.
  if (*year < 100) *year += *year < 50 ? 2000 : 1900;
  const std::optional<Time> date = day_of(*year, *month, *day);
  at.skip(" \t");
  const std::optional<Duration> clock = clock_of(at);
  at.skip(" \t");
  const std::optional<Duration> zone = zone_of(at);
  if (!date || !clock || !zone) return std::nullopt;
  return *date + *clock - *zone;
}

}  // namespace orbweaver
