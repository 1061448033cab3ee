// Durations and sizes as text: read exactly, refused clearly, printed so that they can be read again.
#include "node/settings/units.h"

#include <gtest/gtest.h>

#include <random>

#include "node/settings/settings.h"

namespace orbweaver {
namespace {

using namespace std::chrono_literals;

TEST(Duration, ReadsNumberAndUnit) {
  const std::pair<const char*, Duration> cases[] = {
      {"300ms", 300ms}, {"1.5s", 1500ms}, {"2m", 2min},   {"1h", 1h},    {"0s", 0s},   {"7us", 7us},
      {"1d", 24h},      {"0.25h", 15min}, {"1.0us", 1us}, {" 2 s ", 2s}, {"007s", 7s}, {"0.000001s", 1us},
  };
  for (const auto& [text, expected] : cases) {
    const auto read = parse_duration(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(*read, expected) << text;
  }
}

TEST(Duration, RefusesWhatHasNoUnitOrIsNoNumber) {
  for (const char* text : {"",       " ",  "5",     "s",     "-1s", "+1s", "1e3s",  "1 000ms", "1.s",   ".5s",
                           "1.2.3s", "5S", "5 min", "1h30m", "nan", "inf", "0x10s", "1,5s",    "0.5us", "1.0000001s"}) {
    const auto read = parse_duration(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_setting);
    EXPECT_NE(read.error().message.find("us, ms, s, m, h or d"), std::string::npos) << read.error().message;
  }
}

TEST(Duration, RefusesWhatWouldOverflow) {
  EXPECT_TRUE(parse_duration("36500d"));
  for (const char* text : {"36501d", "9223372036854775807d", "999999999999999999d", "99999999999999999999999999s",
                           "0.1234567890123456789s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Duration, PrintsTheLargestExactUnit) {
  EXPECT_EQ(duration_text(0s), "0s");
  EXPECT_EQ(duration_text(1500ms), "1500ms");
  EXPECT_EQ(duration_text(90s), "90s");
  EXPECT_EQ(duration_text(120s), "2m");
  EXPECT_EQ(duration_text(24h), "24h");
  EXPECT_EQ(duration_text(48h), "2d");
  EXPECT_EQ(duration_text(-5s), "-5s");
  EXPECT_EQ(duration_text(Duration::min()), "-9223372036854775808us");
}

TEST(Duration, PrintedTextIsReadBack) {
  std::mt19937_64 random(20260102);
  for (int i = 0; i < 20000; ++i) {
    const Duration value{static_cast<Duration::rep>(random() % (1ULL << (random() % 51 + 1)))};
    const auto read = parse_duration(duration_text(value));
    ASSERT_TRUE(read) << duration_text(value);
    ASSERT_EQ(*read, value) << duration_text(value);
  }
}

TEST(Size, ReadsNumberAndUnit) {
  const std::pair<const char*, std::uint64_t> cases[] = {
      {"64MiB", 64ULL << 20}, {"500KiB", 500ULL << 10}, {"1GB", 1'000'000'000}, {"4096", 4096},      {"0", 0},
      {"1.5KiB", 1536},       {"2TiB", 2ULL << 40},     {"10kb", 10'000},       {"64mib", 64 << 20}, {"7B", 7},
      {"1 MB", 1'000'000},    {"0.001KB", 1},
  };
  for (const auto& [text, expected] : cases) {
    const auto read = parse_size(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(*read, expected) << text;
  }
}

TEST(Size, RefusesAmbiguousUnitsAndWhatIsNoSize) {
  for (const char* text :
       {"", "64M", "64K", "MiB", "-1", "1.5", "1.5B", "1e6", "0.0001KB", "9PB", "8388608TiB", "99999999999999999999"}) {
    const auto read = parse_size(text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("B, KiB, MiB, GiB, TiB"), std::string::npos) << read.error().message;
  }
}

TEST(Size, PrintsTheShortestExactForm) {
  EXPECT_EQ(size_text(0), "0B");
  EXPECT_EQ(size_text(64ULL << 20), "64MiB");
  EXPECT_EQ(size_text(1'000'000'000), "1GB");
  EXPECT_EQ(size_text(4096), "4KiB");
  EXPECT_EQ(size_text(4097), "4097B");
}

TEST(Size, PrintedTextIsReadBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t value = (random() >> (random() % 63 + 1)) << (random() % 2 * 10) >> 1;
    const auto read = parse_size(size_text(value));
    ASSERT_TRUE(read) << size_text(value);
    ASSERT_EQ(*read, value) << size_text(value);
  }
}

TEST(Units, LongOrBinaryTextIsShownShortAndPrintable) {
  const auto read = parse_size(std::string(1 << 20, 'x') + "\n");
  ASSERT_FALSE(read);
  EXPECT_LT(read.error().message.size(), 400U);
  EXPECT_EQ(parse_duration("5\ns\x1b[0m").error().message.find_first_of("\n\x1b"), std::string::npos);
}

}  // namespace
}  // namespace orbweaver
