#include "node/process/log_line.h"

#include <array>
#include <cstdint>
#include <cstdio>

#include "node/text/printable.h"

namespace orbweaver {
namespace {

// Cuts at max_log_value_bytes, but not in the middle of a character.
std::string_view cut(std::string_view value) {
  if (value.size() <= max_log_value_bytes) return value;
  std::size_t end = max_log_value_bytes;
  for (int back = 0; back < 3 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80; ++back) --end;
  return value.substr(0, end);
}

}  // namespace

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

std::string time_text(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06lldZ",
                                   static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                                   static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                                   static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                                   static_cast<long long>(clock.subseconds().count()));
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string value_text(std::string_view value) {
  const std::string_view kept = cut(value);
  std::string body;
  bool quoted = append_printable(body, kept, Escape::quotes);
  quoted = quoted || kept.empty() || kept.find_first_of(" =") != std::string_view::npos;
  if (kept.size() < value.size()) body += "...";
  return quoted ? "\"" + body + "\"" : body;
}

std::string log_line(Time now, LogLevel level, std::string_view channel, std::string_view event,
                     std::span<const LogField> fields) {
  std::string line = time_text(now);
  line += ' ';
  line += level_name(level);
  line += ' ';
  append_printable(line, cut(channel), Escape::quotes);
  line += ' ';
  append_printable(line, cut(event), Escape::quotes);
  for (const LogField& field : fields) {
    line += ' ';
    append_printable(line, cut(field.key), Escape::quotes);
    line += '=';
    line += value_text(field.value);
  }
  return line;
}

}  // namespace orbweaver
