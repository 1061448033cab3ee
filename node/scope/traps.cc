#include "node/scope/traps.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace orbweaver {

namespace {

// The longest run of segments checked for repetition: "a/b/c/d/a/b/c/d/a/b/c/d".
constexpr std::size_t max_run = 4;
// How many segments of a path are checked; a longer path is suspect by itself.
constexpr std::size_t max_segments = 64;
// Years that a date may have: other four-digit numbers are something else ("iso-8859-10").
constexpr int year_least = 1000;
constexpr int year_most = 2999;
// The minimum length of a session id in hexadecimal digits, and in letters and digits.
constexpr std::size_t hex_id_bytes = 16;
constexpr std::size_t mixed_id_bytes = 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view text, std::string_view word) {
  return text.size() == word.size() &&
         std::equal(text.begin(), text.end(), word.begin(), [](char a, char b) { return lower(a) == b; });
}
template <std::size_t Size>
bool one_of(std::string_view text, const std::array<std::string_view, Size>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return same_word(text, word); });
}

constexpr std::array<std::string_view, 5> calendar_words = {"calendar", "kalender", "calendrier", "calendario", "cal"};
constexpr std::array<std::string_view, 3> year_words = {"year", "y", "yr"};
constexpr std::array<std::string_view, 7> month_words = {"month", "mon", "m", "week", "w", "day", "d"};
constexpr std::array<std::string_view, 10> date_words = {"date",  "day",  "month", "week", "d",
                                                         "start", "from", "to",    "cal",  "calendar"};

// The whole text as a number; -1 when it is not a number, or too long for a date.
int number(std::string_view text) {
  if (text.empty() || text.size() > 8 || !std::all_of(text.begin(), text.end(), is_digit)) return -1;
  int value = 0;
  for (const char c : text) value = value * 10 + (c - '0');
  return value;
}
bool is_year(int value) { return value >= year_least && value <= year_most; }
bool is_month(int value) { return value >= 1 && value <= 12; }
bool is_day(int value) { return value >= 1 && value <= 31; }

// The year of "2031-05", "2031-05-17" and the like, not part of a longer number; -1 when there is none.
int dashed_year(std::string_view text) {
  for (std::size_t dash = text.find('-'); dash != std::string_view::npos; dash = text.find('-', dash + 1)) {
    if (dash < 4 || (dash > 4 && (is_digit(text[dash - 5]) || is_letter(text[dash - 5])))) continue;
    const int year = number(text.substr(dash - 4, 4));
    const std::string_view rest = text.substr(dash + 1);
    if (!is_year(year) || rest.size() < 2 || !is_month(number(rest.substr(0, 2)))) continue;
    if (rest.size() == 2 || (!is_digit(rest[2]) && !is_letter(rest[2]) && rest[2] != '-')) return year;
    if (rest.size() >= 5 && rest[2] == '-' && is_day(number(rest.substr(3, 2))) &&
        (rest.size() == 5 || !is_digit(rest[5])))
      return year;
  }
  return -1;
}

// "20310517" and "203105" where the context shows that it is a date.
int compact_year(std::string_view value) {
  const int all = number(value);
  if (all < 0 || (value.size() != 6 && value.size() != 8)) return -1;
  const int month = value.size() == 8 ? all / 100 % 100 : all % 100;
  const int year = value.size() == 8 ? all / 10'000 : all / 100;
  return is_year(year) && is_month(month) ? year : -1;
}

// Calls `see(name, value)` for each parameter.
template <class See>
void each_parameter(std::string_view query, See see) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find_first_of("&;"), query.size());
    const std::string_view one = query.substr(0, end);
    const std::size_t equals = std::min(one.find('='), one.size());
    if (!one.empty()) see(one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
}

// Calls `see(segment, last)` for each segment that is not empty, until it returns true.
template <class See>
bool any_segment(std::string_view path, See see) {
  while (!path.empty()) {
    const std::size_t begin = path.find_first_not_of('/');
    if (begin == std::string_view::npos) return false;
    path.remove_prefix(begin);
    const std::size_t end = std::min(path.find('/'), path.size());
    if (see(path.substr(0, end), end == path.size())) return true;
    path.remove_prefix(end);
  }
  return false;
}

// Hexadecimal digits, or letters and digits well mixed: generators write such names, people do not.
bool is_id(std::string_view text) {
  if (text.size() < hex_id_bytes) return false;
  std::size_t digits = 0;
  std::size_t letters = 0;
  std::size_t changes = 0;  // from letters to digits and back
  bool hex = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    changes += at > 0 && is_digit(c) != is_digit(text[at - 1]) ? 1 : 0;
    digits += is_digit(c) ? 1 : 0;
    letters += is_letter(c) ? 1 : 0;
    hex = hex && is_hex(c);
  }
  if (digits + letters != text.size()) return false;
  if (hex) return digits >= 4 && letters >= 1;
  return text.size() >= mixed_id_bytes && digits >= 5 && letters >= 5 && changes >= 6;
}

int year_of(Time now) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(now));
  return static_cast<int>(day.year());
}

}  // namespace

std::string_view trap_rule_name(TrapRule rule) { return trap_rule_names[static_cast<std::size_t>(rule)]; }

std::optional<TrapRule> trap_rule_of(std::string_view name) {
  const auto found = std::find(trap_rule_names.begin(), trap_rule_names.end(), name);
  if (found == trap_rule_names.end()) return std::nullopt;
  return static_cast<TrapRule>(found - trap_rule_names.begin());
}

bool is_outlying_date(std::string_view path, std::string_view query, int first, int last) {
  const auto outlying = [&](int year) { return is_year(year) && (year < first || year > last); };
  int before = -1;  // the previous segment, as a number
  bool calendar = false;
  const bool in_path = any_segment(path, [&](std::string_view segment, bool) {
    const int value = number(segment);
    if (is_month(value) && outlying(before)) return true;  // /2031/05
    if (outlying(dashed_year(segment))) return true;
    const bool digits = std::all_of(segment.begin(), segment.end(), is_digit);
    // /calendar/24312 counts months; /calendar/2031 and /calendar/203105 name dates.
    if (calendar && digits) {
      const int year = is_year(value) ? value : compact_year(segment);
      if (year < 0 || outlying(year)) return true;
    }
    calendar = one_of(segment, calendar_words);
    before = digits ? value : -1;
    return false;
  });
  if (in_path) return true;
  bool outlying_year = false;
  bool month = false;
  bool dated = false;
  each_parameter(query, [&](std::string_view name, std::string_view value) {
    if (outlying(dashed_year(value))) dated = true;
    if (one_of(name, year_words) && value.size() == 4 && outlying(number(value))) outlying_year = true;
    if (one_of(name, month_words)) month = true;
    if (one_of(name, date_words) && outlying(compact_year(value))) dated = true;
  });
  return dated || (outlying_year && month);
}

bool has_session_id(std::string_view path) {
  bool generated = false;  // the previous segment begins with "_"
  return any_segment(path, [&](std::string_view segment, bool last) {
    const bool in_generated = std::exchange(generated, segment.starts_with('_'));
    // /page;jsessionid=0123…: a parameter of the segment (RFC 3986, 3.3)
    for (std::size_t at = segment.find(';'); at != std::string_view::npos; at = segment.find(';', at + 1)) {
      const std::string_view parameter = segment.substr(at + 1, segment.find(';', at + 1) - at - 1);
      const std::size_t equals = parameter.find('=');
      if (equals != std::string_view::npos && is_id(parameter.substr(equals + 1))) return true;
    }
    // /(S(4hqa0555fwsecu455xqckv45))/page.aspx
    if (segment.starts_with("(S(") && segment.ends_with("))")) return true;
    // The last segment may be a page with such a name; one in mid-path has pages below it. Site generators name
    // directories after a digest: Sphinx has /_downloads/<MD5>/.
    return !last && !in_generated && is_id(segment);
  });
}

TrapRules::TrapRules(const Settings& settings)
    : repeats_(settings.trap_repeats),
      year_first_(static_cast<int>(settings.trap_year_first)),
      years_ahead_(static_cast<int>(settings.trap_years_ahead)),
      parameters_(settings.trap_parameters),
      query_bytes_(static_cast<std::size_t>(settings.trap_query_bytes)),
      depth_(settings.trap_depth) {
  for (const std::string& name : settings.trap_rules)
    if (const auto rule = trap_rule_of(name)) on_[static_cast<std::size_t>(*rule)] = any_ = true;
}

// A run of one to max_run segments that occurs repeats_ times in a row, or one segment twice as often anywhere.
bool TrapRules::repeats(std::string_view path) const {
  // The common case: too few segments for anything to repeat that often.
  if (static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) < repeats_) return false;
  std::array<std::string_view, max_segments> segments;
  std::size_t count = 0;
  const bool too_long = any_segment(path, [&](std::string_view segment, bool) {
    if (count == max_segments) return true;
    segments[count++] = segment;
    return false;
  });
  if (too_long) return true;
  for (std::size_t run = 1; run <= max_run && run * repeats_ <= count; ++run) {
    std::size_t same = 0;  // segments in a row that equal the one a run earlier
    for (std::size_t at = run; at < count; ++at) {
      same = segments[at] == segments[at - run] ? same + 1 : 0;
      if (same == run * (repeats_ - 1)) return true;
    }
  }
  if (count < 2 * repeats_) return false;
  for (std::size_t at = 0; at + 2 * repeats_ <= count; ++at) {
    const auto rest = segments.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = segments.begin() + static_cast<std::ptrdiff_t>(count);
    if (static_cast<std::size_t>(std::count(rest, end, segments[at])) >= 2 * repeats_) return true;
  }
  return false;
}

std::optional<TrapRule> TrapRules::suspect(std::string_view path_and_query, std::uint16_t depth, Time now) const {
  if (!any_) return std::nullopt;
  const std::size_t mark = std::min(path_and_query.find('?'), path_and_query.size());
  const std::string_view path = path_and_query.substr(0, mark);
  const std::string_view query = path_and_query.substr(std::min(mark + 1, path_and_query.size()));
  if (on(TrapRule::repeated_segments) && repeats(path)) return TrapRule::repeated_segments;
  // Both dates and ids contain digits.
  const bool digits = std::any_of(path_and_query.begin(), path_and_query.end(), is_digit);
  if (digits && on(TrapRule::calendar) && is_outlying_date(path, query, year_first_, year_of(now) + years_ahead_))
    return TrapRule::calendar;
  if (on(TrapRule::long_query) && !query.empty()) {
    std::size_t parameters = 0;
    each_parameter(query, [&](std::string_view, std::string_view) { ++parameters; });
    if (query.size() > query_bytes_ || parameters > parameters_) return TrapRule::long_query;
  }
  if (digits && on(TrapRule::session_id) && has_session_id(path)) return TrapRule::session_id;
  if (on(TrapRule::deep_chain) && depth > depth_) return TrapRule::deep_chain;
  return std::nullopt;
}

bool TrapBudgets::admit(const storage::HostKey& host, TrapRule rule, std::uint32_t budget,
                        const std::function<Counts()>& load) {
  auto found = hosts_.find(host);
  if (found == hosts_.end()) {
    // Any host may be removed: its counts are read again when they are needed.
    if (hosts_.size() >= max_hosts_ && !hosts_.empty()) hosts_.erase(hosts_.begin());
    found = hosts_.emplace(host, load()).first;
  }
  std::uint32_t& count = found->second[static_cast<std::size_t>(rule)];
  if (count >= budget) return false;
  ++count;
  return true;
}

}  // namespace orbweaver
