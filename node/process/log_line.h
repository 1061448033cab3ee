// One log record as one line: "2026-01-02T03:04:05.678901Z info crawl page fetched url=http://a.example/ status=200".
// Pure. Whatever a value holds, the line stays one line of printable UTF-8: what a server sends ends up here.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/process/log.h"

namespace orbweaver {

inline constexpr std::size_t log_value_bytes_max =
    512;  // of the value before escaping; the rest is cut and marked with "..."

std::string_view level_name(LogLevel level);

// UTC, microseconds: RFC 3339.
std::string time_text(Time time);

// Bare when it is plain; in double quotes when it is empty or holds a space, '"', '=' or anything escaped. Escapes: \"
// \\ \n \r \t, and \xNN for every other byte of a control character (C0, DEL, C1), of a line or direction changing
// character, or of what is not UTF-8.
std::string value_text(std::string_view value);

std::string log_line(Time now, LogLevel level, std::string_view channel, std::string_view event,
                     std::span<const LogField> fields);

}  // namespace orbweaver
