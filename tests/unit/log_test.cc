// The log: lines that stay lines whatever a server sends, a limit on what a remote host can make us write, files that
// rotate.
#include "node/process/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>
#include <thread>

#include "node/process/log_limiter.h"
#include "node/process/log_line.h"

namespace orbweaver {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr Time noon{Duration{1'767'323'045'678'901}};  // 2026-01-02T03:04:05.678901Z

class TempDirectory {
 public:
  TempDirectory() {
    std::string path = (fs::temp_directory_path() / ("orbweaver-log-" + std::string(6, 'X'))).string();
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  ~TempDirectory() { fs::remove_all(path_); }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string limiter_text(const std::vector<Suppressed>& all) {
  std::string out;
  for (const Suppressed& one : all) out += one.channel + "/" + one.event + "=" + std::to_string(one.count) + " ";
  return out;
}

TEST(LogLine, HasTimeLevelChannelEventAndFields) {
  const LogField fields[] = {{"url", "http://a.example/"}, {"status", 200}, {"ratio", -1}};
  EXPECT_EQ(log_line(noon, LogLevel::info, "crawl", "page fetched", fields),
            "2026-01-02T03:04:05.678901Z info crawl page fetched url=http://a.example/ status=200 ratio=-1");
}

TEST(LogLine, Rfc3339_TimeIsUtcWithMicroseconds) {
  EXPECT_EQ(time_text(Time{}), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(time_text(Time{Duration{-1}}), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(time_text(Time{std::chrono::sys_days{std::chrono::year{2024} / 2 / 29}}), "2024-02-29T00:00:00.000000Z");
}

TEST(LogLine, ValuesAreQuotedWhenTheyNeedIt) {
  EXPECT_EQ(value_text("plain/path?x"), "plain/path?x");
  EXPECT_EQ(value_text(""), "\"\"");
  EXPECT_EQ(value_text("two words"), "\"two words\"");
  EXPECT_EQ(value_text("a=b"), "\"a=b\"");
  EXPECT_EQ(value_text("say \"hi\"\\"), "\"say \\\"hi\\\"\\\\\"");
  EXPECT_EQ(value_text("Grüße,世界"), "Grüße,世界");
}

TEST(LogLine, NothingBreaksTheLineOrTheTerminal) {
  EXPECT_EQ(value_text("a\nb\r\tc"), "\"a\\nb\\r\\tc\"");
  EXPECT_EQ(value_text("\x1b[31m"), "\"\\x1b[31m\"");
  EXPECT_EQ(value_text(std::string_view("\0", 1)), "\"\\x00\"");
  EXPECT_EQ(value_text("\x7f"), "\"\\x7f\"");
  EXPECT_EQ(value_text("\xc2\x9b"), "\"\\xc2\\x9b\"") << "C1: a control sequence introducer";
  EXPECT_EQ(value_text("\xe2\x80\xae"), "\"\\xe2\\x80\\xae\"") << "right-to-left override";
  EXPECT_EQ(value_text("\xe2\x80\xa8"), "\"\\xe2\\x80\\xa8\"") << "line separator";
}

TEST(LogLine, Unicode_Table3_7_WhatIsNotUtf8IsEscaped) {
  EXPECT_EQ(value_text("\xff"), "\"\\xff\"");
  EXPECT_EQ(value_text("\xc0\xaf"), "\"\\xc0\\xaf\"") << "overlong";
  EXPECT_EQ(value_text("\xe0\x80\xaf"), "\"\\xe0\\x80\\xaf\"") << "overlong";
  EXPECT_EQ(value_text("\xed\xa0\x80"), "\"\\xed\\xa0\\x80\"") << "surrogate";
  EXPECT_EQ(value_text("\xf4\x90\x80\x80"), "\"\\xf4\\x90\\x80\\x80\"") << "beyond U+10FFFF";
  EXPECT_EQ(value_text("a\xe4\xb8"), "\"a\\xe4\\xb8\"") << "cut short";
  EXPECT_EQ(value_text("\xf0\x9f\x95\xb7"), "\xf0\x9f\x95\xb7");
}

TEST(LogLine, ValuesAreCutAt512Bytes) {
  EXPECT_EQ(value_text(std::string(512, 'x')), std::string(512, 'x'));
  EXPECT_EQ(value_text(std::string(513, 'x')), std::string(512, 'x') + "...");
  EXPECT_EQ(value_text(std::string(511, 'x') + "ü"), std::string(511, 'x') + "...")
      << "not in the middle of a character";
  EXPECT_LT(value_text(std::string(1 << 20, '\x01')).size(), 512U * 4 + 10);
}

TEST(LogLine, RandomBytesAlwaysMakeOnePrintableLine) {
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    std::string value(random() % 700, '\0');
    for (char& c : value) c = static_cast<char>(random());
    const LogField fields[] = {{"v", value}};
    const std::string line = log_line(noon, LogLevel::warning, "fetch", "odd", fields);
    for (const char c : line) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << line;
  }
}

TEST(LogLimiter, LetsThroughABurstAMinuteAndCountsTheRest) {
  LogLimiter limiter;
  int through = 0;
  for (int i = 0; i < 1000; ++i) through += limiter.admit(LogLevel::info, "fetch", "failed", noon + i * 10ms) ? 1 : 0;
  EXPECT_EQ(through, 20);
  EXPECT_EQ(limiter_text(limiter.ended(noon + 59s)), "");
  EXPECT_EQ(limiter_text(limiter.ended(noon + 60s)), "fetch/failed=980 ");
  EXPECT_EQ(limiter_text(limiter.ended(noon + 61s)), "") << "reported once";
  EXPECT_TRUE(limiter.admit(LogLevel::info, "fetch", "failed", noon + 61s));
}

TEST(LogLimiter, EventsAndChannelsAreCountedApart) {
  LogLimiter limiter;
  for (int i = 0; i < 21; ++i) limiter.admit(LogLevel::info, "fetch", "failed", noon);
  EXPECT_TRUE(limiter.admit(LogLevel::info, "fetch", "slow", noon));
  EXPECT_TRUE(limiter.admit(LogLevel::info, "ring", "failed", noon));
  EXPECT_EQ(limiter_text(limiter.finish()), "fetch/failed=1 ");
  EXPECT_EQ(limiter.keys(), 0U);
}

TEST(LogLimiter, HeldBackRecordTakesTheMostSevereLevel) {
  LogLimiter limiter;
  for (int i = 0; i < 20; ++i) limiter.admit(LogLevel::error, "fetch", "failed", noon);
  limiter.admit(LogLevel::info, "fetch", "failed", noon);
  limiter.admit(LogLevel::warning, "fetch", "failed", noon);
  const auto suppressed = limiter.finish();
  ASSERT_EQ(suppressed.size(), 1U);
  EXPECT_EQ(suppressed[0].level, LogLevel::warning);
}

TEST(LogLimiter, MemoryAndLinesAreBoundedHoweverManyEventsThereAre) {
  LogLimiter limiter;
  std::uint64_t through = 0;
  for (int i = 0; i < 100'000; ++i)
    through += limiter.admit(LogLevel::info, "fetch", "event " + std::to_string(i), noon) ? 1 : 0;
  EXPECT_LE(limiter.keys(), LogLimiter::max_keys);
  EXPECT_LE(through, LogLimiter::max_keys * LogLimiter::burst);
  std::uint64_t suppressed = 0;
  for (const Suppressed& entry : limiter.finish()) suppressed += entry.count;
  EXPECT_EQ(through + suppressed, 100'000U) << "every record is logged or counted";
}

TEST(LogLimiter, AClockThatIsSetBackHoldsNothingForLong) {
  LogLimiter limiter;
  for (int i = 0; i < 25; ++i) limiter.admit(LogLevel::info, "fetch", "failed", noon);
  EXPECT_EQ(limiter_text(limiter.ended(noon - 1h)), "fetch/failed=5 ");
}

// In any run of records, no minute that begins with a window's first record has more than the burst.
TEST(LogLimiter, AgreesWithASlowTwin) {
  std::mt19937 random(20);
  LogLimiter limiter;
  Time now = noon;
  Time window_start{};
  int in_window = 0;
  bool open = false;
  for (int i = 0; i < 20000; ++i) {
    now += Duration{random() % 5'000'000};
    limiter.ended(now);
    if (!open || now >= window_start + 60s) {
      window_start = now;
      in_window = 0;
      open = true;
    }
    ASSERT_EQ(limiter.admit(LogLevel::info, "a", "b", now), ++in_window <= 20) << i;
  }
}

TEST(Log, WritesLinesAboveTheLevelToItsFile) {
  const TempDirectory dir;
  const fs::path file = dir / "node.log";
  ASSERT_TRUE(start_log({.level = LogLevel::info, .file = file.string()}));
  log(LogLevel::debug, "node", "not wanted");
  log(LogLevel::info, "node", "peer started", {{"port", 7700}, {"note", "a\nb"}});
  log(LogLevel::error, "node", "peer stopped");
  stop_log();
  const auto lines = lines_of(file);
  ASSERT_EQ(lines.size(), 2U);
  const std::regex form(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z info node peer started port=7700 note="a\\nb")");
  EXPECT_TRUE(std::regex_match(lines[0], form)) << lines[0];
}

TEST(Log, AppendsAfterARestart) {
  const TempDirectory dir;
  const fs::path file = dir / "node.log";
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(start_log({.file = file.string()}));
    log(LogLevel::info, "node", "started", {{"run", run}});
    stop_log();
  }
  EXPECT_EQ(lines_of(file).size(), 3U);
}

// Names of the directory's files, and that no line was lost or torn among those kept.
TEST(Log, RotatesBySizeAndKeepsTheNewestFiles) {
  const TempDirectory dir;
  const fs::path file = dir / "node.log";
  int number = 0;
  for (int run = 0; run < 2; ++run) {  // the second continues where the first stopped
    ASSERT_TRUE(start_log({.file = file.string(), .file_bytes = 4096, .files = 3}));
    for (int i = 0; i < 500; ++i) log(LogLevel::info, "node", "line", {{"number", number++}});
    stop_log();
  }
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir.path())) {
    names.push_back(entry.path().filename().string());
    EXPECT_LE(entry.file_size(), 4096U) << names.back();
  }
  std::sort(names.begin(), names.end());
  ASSERT_EQ(names.size(), 4U) << "three closed files and the one being written";
  EXPECT_EQ(names.back(), "node.log");
  int last = -1;
  for (const std::string& name : names) {
    for (const std::string& line : lines_of(dir.path() / name)) {
      const int value = std::stoi(line.substr(line.find("number=") + 7));
      EXPECT_TRUE(last < 0 || value == last + 1) << name << ": " << value << " after " << last;
      last = value;
    }
  }
  EXPECT_EQ(last, 999);
}

TEST(Log, LimitedRecordsAreHeldBackAndCounted) {
  const TempDirectory dir;
  const fs::path file = dir / "node.log";
  ASSERT_TRUE(start_log({.file = file.string()}));
  for (int i = 0; i < 1000; ++i) log_limited(LogLevel::warning, "fetch", "bad header", {{"host", "h.example"}});
  stop_log();
  const auto lines = lines_of(file);
  ASSERT_EQ(lines.size(), 21U);
  EXPECT_NE(lines.back().find("warning fetch suppressed event=\"bad header\" count=980"), std::string::npos)
      << lines.back();
}

TEST(Log, LinesOfManyThreadsStayWhole) {
  const TempDirectory dir;
  const fs::path file = dir / "node.log";
  ASSERT_TRUE(start_log({.file = file.string()}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 500; ++i) log(LogLevel::info, "node", "from thread", {{"t", t}, {"i", i}});
      for (int i = 0; i < 500; ++i) log_limited(LogLevel::info, "node", "limited");
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop_log();
  int whole = 0;
  int limited = 0;
  const std::regex form(R"(\S+Z info node from thread t=\d i=\d+)");
  for (const std::string& line : lines_of(file)) {
    whole += std::regex_match(line, form) ? 1 : 0;
    limited += line.ends_with("info node limited") ? 1 : 0;
  }
  EXPECT_EQ(whole, 2000);
  EXPECT_EQ(limited, 20);
}

TEST(Log, AFileThatCannotBeWrittenIsAnErrorWithTheCause) {
  const auto started = start_log({.file = "no-such-directory/node.log"});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message,
            "cannot write the log file 'no-such-directory/node.log': No such file or directory");
  const TempDirectory dir;
  EXPECT_FALSE(start_log({.file = dir.path().string()})) << "a directory";
  EXPECT_FALSE(start_log({.file = (dir / "100%.log").string()})) << "Boost.Log would take it for a pattern";
}

// The directory goes away under a running log: the program continues, and one line on standard error says so.
TEST(Log, AFailureInMidRunCostsOnlyTheLines) {
  const TempDirectory dir;
  fs::create_directory(dir / "sub");
  ASSERT_TRUE(start_log({.file = (dir / "sub" / "node.log").string(), .file_bytes = 4096}));
  log(LogLevel::info, "node", "before");
  fs::remove_all(dir / "sub");
  std::ofstream(dir / "sub") << "in the way";
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) log(LogLevel::info, "node", "after");
  stop_log();
  const std::string reported = testing::internal::GetCapturedStderr();
  EXPECT_NE(reported.find("the log cannot be written"), std::string::npos);
  EXPECT_EQ(std::count(reported.begin(), reported.end(), '\n'), 1) << reported;
}

TEST(Log, WithoutAFileItGoesToStandardError) {
  testing::internal::CaptureStderr();
  ASSERT_TRUE(start_log({}));
  log(LogLevel::info, "node", "hello");
  stop_log();
  log(LogLevel::info, "node", "not started: only warnings are shown");
  log(LogLevel::warning, "node", "not started");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("info node hello\n"), std::string::npos);
  EXPECT_EQ(text.find("only warnings"), std::string::npos);
  EXPECT_NE(text.find("warning node not started\n"), std::string::npos);
}

}  // namespace
}  // namespace orbweaver
