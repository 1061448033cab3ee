// The log: Boost.Log behind five lines. Records are one line each: time level channel event key=value…
// No remote host can flood it: per minute and event name, log_limited() writes a burst of records and then reports how
// many it suppressed. Thread rule: all functions are safe from any thread. Values are escaped: no line breaks, no
// control characters, cut at 512 bytes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "node/base.h"
#include "node/log_level.h"
#include "node/settings/settings.h"

namespace orbweaver {

struct LogField {
  std::string_view key;
  std::string value;
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  LogField(std::string_view k, Number v) : key(k), value(std::to_string(v)) {}
};

struct LogConfig {
  LogLevel level = LogLevel::info;
  std::string file;                      // empty: standard error only
  std::uint64_t file_bytes = 16u << 20;  // rotated at this size
  std::uint32_t files = 8;               // rotated files that are kept
  bool to_stderr = false;
};

// A peer's, in its directory.
LogConfig log_config(const Settings& settings, const std::string& directory, bool to_stderr);

Result<void> start_log(const LogConfig& config);
void stop_log();  // flushes

// `channel` names the part: "ring", "crawl", "fetch", "storage", "node". `event` is one of a few fixed phrases.
void log(LogLevel level, std::string_view channel, std::string_view event, std::span<const LogField> fields);
inline void log(LogLevel level, std::string_view channel, std::string_view event,
                std::initializer_list<LogField> fields = {}) {
  log(level, channel, event, std::span<const LogField>(fields.begin(), fields.size()));
}
// For events that a remote host or peer can trigger: at most 20 records per minute and (channel, event), then one
// record that counts the suppressed ones.
void log_limited(LogLevel level, std::string_view channel, std::string_view event, std::span<const LogField> fields);
inline void log_limited(LogLevel level, std::string_view channel, std::string_view event,
                        std::initializer_list<LogField> fields = {}) {
  log_limited(level, channel, event, std::span<const LogField>(fields.begin(), fields.size()));
}

}  // namespace orbweaver
