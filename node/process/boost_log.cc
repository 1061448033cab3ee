// The log's plumbing, and the only home of Boost.Log: one synchronous sink for the file, one for standard error.
//
// This is the only state of the process that is not passed around: Boost.Log's core exists once per process, and any
// code may log. Thread rule: the state is guarded by its mutex, the sinks by their own. A log that cannot be written
// never stops the peer: the first failure is reported on standard error, later ones are counted.
#include <atomic>
#include <boost/core/null_deleter.hpp>
#include <boost/log/core.hpp>
#include <boost/log/expressions.hpp>
#include <boost/log/keywords/severity.hpp>
#include <boost/log/sinks/sync_frontend.hpp>
#include <boost/log/sinks/text_file_backend.hpp>
#include <boost/log/sinks/text_ostream_backend.hpp>
#include <boost/log/sources/logger.hpp>
#include <boost/log/sources/record_ostream.hpp>
#include <boost/log/utility/exception_handler.hpp>
#include <boost/make_shared.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <system_error>

#include "node/process/log.h"
#include "node/process/log_limiter.h"
#include "node/process/log_line.h"

namespace orbweaver {
namespace {

namespace blog = boost::log;
using FileSink = blog::sinks::synchronous_sink<blog::sinks::text_file_backend>;
using StreamSink = blog::sinks::synchronous_sink<blog::sinks::text_ostream_backend>;

struct LogState {
  std::mutex mutex;  // guards limiter, file_sink and stream_sink
  LogLimiter limiter;
  boost::shared_ptr<FileSink> file_sink;
  boost::shared_ptr<StreamSink> stream_sink;
  std::atomic<LogLevel> level{LogLevel::info};
  std::atomic<bool> started{false};
  std::atomic<std::uint64_t> write_failures{0};
};

LogState& state() {
  static LogState instance;
  return instance;
}

Time now_utc() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

// Catches what a sink throws (a full disk, a missing directory).
struct OnSinkFailure {
  void operator()(const std::exception& error) const { report(error.what()); }
  void operator()() const { report("unknown failure"); }
  static void report(const char* what) {
    if (state().write_failures.fetch_add(1) == 0) {
      std::fprintf(stderr, "orbweaver: the log cannot be written (reported once): %s\n", what);
    }
  }
};

void write_line(const std::string& line) {
  if (!state().started.load(std::memory_order_acquire)) {
    // Before start_log(): only important lines get here.
    std::fprintf(stderr, "%s\n", line.c_str());
    return;
  }
  try {
    blog::sources::logger logger;
    if (blog::record record = logger.open_record()) {
      blog::record_ostream stream(record);
      stream << line;
      stream.flush();
      logger.push_record(boost::move(record));
    }
  } catch (const std::exception& error) {
    OnSinkFailure::report(error.what());
  }
}

void write_suppressed(const std::vector<Suppressed>& all, Time now) {
  for (const Suppressed& suppressed : all) {
    const LogField fields[] = {{"event", suppressed.event}, {"count", suppressed.count}};
    write_line(log_line(now, suppressed.level, suppressed.channel, "suppressed", fields));
  }
}

bool wanted(LogLevel level) {
  const LogState& s = state();
  return s.started.load(std::memory_order_acquire) ? level >= s.level.load(std::memory_order_relaxed)
                                                   : level >= LogLevel::warning;
}

// Writes the file, such as peer.log. A full one becomes peer.00001.log; the oldest beyond `files` are deleted.
boost::shared_ptr<FileSink> make_file_sink(const LogConfig& config) {
  std::error_code unknown;  // set if the working directory no longer exists
  const std::filesystem::path whole = std::filesystem::absolute(config.file, unknown);
  const std::filesystem::path file = unknown ? std::filesystem::path(config.file) : whole;
  const std::filesystem::path directory = file.parent_path();
  const std::string stem = file.stem().string();
  const std::string extension = file.extension().string();
  namespace keywords = blog::keywords;
  auto backend = boost::make_shared<blog::sinks::text_file_backend>(
      keywords::file_name = (directory / (stem + extension)).string(),
      keywords::target_file_name = stem + ".%5N" + extension, keywords::rotation_size = config.file_bytes,
      keywords::open_mode = std::ios_base::out | std::ios_base::app, keywords::auto_flush = true,
      keywords::enable_final_rotation = false);
  backend->set_file_collector(
      blog::sinks::file::make_collector(keywords::target = directory.string(), keywords::max_files = config.files));
  backend->scan_for_files(blog::sinks::file::scan_matching, true);
  auto sink = boost::make_shared<FileSink>(backend);
  sink->set_formatter(blog::expressions::stream << blog::expressions::smessage);
  sink->set_exception_handler(blog::make_exception_handler<std::exception>(OnSinkFailure{}, std::nothrow));
  return sink;
}

boost::shared_ptr<StreamSink> make_stream_sink() {
  auto backend = boost::make_shared<blog::sinks::text_ostream_backend>();
  backend->add_stream(boost::shared_ptr<std::ostream>(&std::clog, boost::null_deleter()));
  backend->auto_flush(true);
  auto sink = boost::make_shared<StreamSink>(backend);
  sink->set_formatter(blog::expressions::stream << blog::expressions::smessage);
  sink->set_exception_handler(blog::make_exception_handler<std::exception>(OnSinkFailure{}, std::nothrow));
  return sink;
}

// Opens the file for appending and closes it again, to get the system's error before Boost.Log hides it.
Result<void> check_writable(const std::string& file) {
  if (std::filesystem::path(file).filename().string().find('%') != std::string::npos) {
    return fail(ErrorCode::invalid_setting,
                "the log file's name '" + file + "' contains a '%', which Boost.Log would read as a pattern");
  }
  std::FILE* const opened = std::fopen(file.c_str(), "ab");
  if (opened == nullptr) {
    return fail(ErrorCode::io, "cannot write the log file '" + file + "': " + std::generic_category().message(errno));
  }
  std::fclose(opened);
  return {};
}

}  // namespace

LogConfig log_config(const Settings& settings, const std::string& directory, bool to_stderr) {
  LogConfig config;
  config.file = directory + "/log/peer.log";
  config.file_bytes = settings.max_log_file_bytes;
  config.files = settings.max_log_files;
  config.to_stderr = to_stderr;
  for (const auto& [name, level] : {std::pair{"debug", LogLevel::debug},
                                    {"info", LogLevel::info},
                                    {"warning", LogLevel::warning},
                                    {"error", LogLevel::error}})
    if (settings.log_level == name) config.level = level;
  return config;
}

Result<void> start_log(const LogConfig& config) {
  stop_log();
  if (!config.file.empty()) {
    if (auto writable = check_writable(config.file); !writable) return writable;
  }
  LogState& s = state();
  const std::lock_guard lock(s.mutex);
  try {
    const auto core = blog::core::get();
    if (!config.file.empty()) {
      s.file_sink = make_file_sink(config);
      core->add_sink(s.file_sink);
    }
    if (config.file.empty() || config.to_stderr) {
      s.stream_sink = make_stream_sink();
      core->add_sink(s.stream_sink);
    }
  } catch (const std::exception& error) {
    return fail(ErrorCode::io, "cannot start the log '" + config.file + "': " + error.what());
  }
  s.level = config.level;
  s.write_failures = 0;
  s.started.store(true, std::memory_order_release);
  return {};
}

void stop_log() {
  LogState& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.started) write_suppressed(s.limiter.finish(), now_utc());
  s.started = false;
  try {
    const auto core = blog::core::get();
    core->flush();
    if (s.file_sink) core->remove_sink(s.file_sink);
    if (s.stream_sink) core->remove_sink(s.stream_sink);
  } catch (const std::exception& error) {
    OnSinkFailure::report(error.what());
  }
  s.file_sink.reset();
  s.stream_sink.reset();
}

void log(LogLevel level, std::string_view channel, std::string_view event, std::span<const LogField> fields) {
  if (!wanted(level)) return;
  const Time now = now_utc();
  std::vector<Suppressed> suppressed;
  {
    // Each record is an occasion to log what was suppressed in a minute that has ended.
    LogState& s = state();
    const std::lock_guard lock(s.mutex);
    suppressed = s.limiter.ended(now);
  }
  write_suppressed(suppressed, now);
  write_line(log_line(now, level, channel, event, fields));
}

void log_limited(LogLevel level, std::string_view channel, std::string_view event, std::span<const LogField> fields) {
  if (!wanted(level)) return;
  Time now{};
  std::vector<Suppressed> suppressed;
  bool admitted = false;
  {
    LogState& s = state();
    const std::lock_guard lock(s.mutex);
    now = now_utc();  // in the order of the calls: a time before the last one's would be a clock that was set back
    suppressed = s.limiter.ended(now);
    admitted = s.limiter.admit(level, channel, event, now);
  }
  write_suppressed(suppressed, now);
  if (admitted) write_line(log_line(now, level, channel, event, fields));
}

}  // namespace orbweaver
