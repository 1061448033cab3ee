// One log record as one line: "2026-01-02T03:04:05.678901Z info crawl page fetched url=http://a.example/ status=200".
// Pure. Whatever a value contains, the line stays one line of printable UTF-8: values may come from servers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/process/log.h"

namespace orbweaver {

inline constexpr std::size_t max_log_value_bytes =
    512;  // of the value before escaping; a longer value is cut and marked with "..."

std::string_view level_name(LogLevel level);

// UTC, microseconds: RFC 3339.
std::string time_text(Time time);

// Plain values stay as they are. A value is put in double quotes when it is empty or contains a space, '"', '=' or
// anything escaped. Escapes: \" \\ \n \r \t; and \xNN for each byte of any other control character (C0, DEL, C1), of a
// character that changes the line or the direction, or of bytes that are not UTF-8.
std::string value_text(std::string_view value);

std::string log_line(Time now, LogLevel level, std::string_view channel, std::string_view event,
                     std::span<const LogField> fields);

}  // namespace orbweaver
