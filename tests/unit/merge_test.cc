// The laws of storage::merge (storage/record.h): everything that moves records between peers rests on them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "storage/record.h"

namespace orbweaver::storage {
namespace {

using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t bound) { return random() % bound; }

constexpr Reason excluded_reasons[] = {Reason::robots, Reason::depth, Reason::redirects, Reason::robots_unreachable};
constexpr Reason failed_reasons[] = {Reason::http_status, Reason::dns, Reason::timeout, Reason::host_down};

// Small ranges, so that equal parts and equal records come up often.
UrlRecord random_record(Random& random) {
  UrlRecord record;
  record.state = static_cast<UrlState>(1 + below(random, 4));
  if (record.state == UrlState::excluded) record.reason = excluded_reasons[below(random, 4)];
  if (record.state == UrlState::failed) record.reason = failed_reasons[below(random, 4)];
  if (record.state == UrlState::queued && below(random, 2) == 0) record.reason = failed_reasons[below(random, 4)];
  record.depth = static_cast<std::uint16_t>(below(random, 3));
  record.redirects = static_cast<std::uint8_t>(below(random, 3));
  record.attempts = static_cast<std::uint8_t>(below(random, 3));
  record.status = static_cast<std::uint16_t>(below(random, 2) * 200);
  record.changed = Time(Duration(static_cast<std::int64_t>(below(random, 3)) - 1));
  record.url = "http://example.test/";
  return record;
}

HostClock random_clock(Random& random) {
  return {Time(Duration(static_cast<std::int64_t>(below(random, 4)))), static_cast<std::uint32_t>(below(random, 4)),
          "example.test"};
}

// As record.h has it: excluded for now (depth) < queued < excluded for good < failed < fetched.
int rank_by_the_book(const UrlRecord& record) {
  if (record.state == UrlState::fetched) return 4;
  if (record.state == UrlState::failed) return 3;
  if (record.state == UrlState::queued) return 1;
  return record.reason == Reason::depth ? 0 : 2;
}

template <class Record, class Make>
void expect_semilattice(Make make) {
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    const Record a = make(random), b = make(random), c = make(random);
    ASSERT_EQ(merge(a, a), a) << "idempotent, round " << round;
    ASSERT_EQ(merge(a, b), merge(b, a)) << "commutative, round " << round;
    ASSERT_EQ(merge(merge(a, b), c), merge(a, merge(b, c))) << "associative, round " << round;
    ASSERT_EQ(merge(merge(a, b), a), merge(a, b)) << "a copy that comes again changes nothing, round " << round;
  }
}

// Copies late, twice, in pieces, in any order: every peer ends with the same record.
template <class Record, class Make>
void expect_any_order_gives_the_same(Make make) {
  Random random(2);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<Record> history;
    for (std::size_t i = 0; i < 8; ++i) history.push_back(make(random));
    Record straight = history[0];
    for (const Record& record : history) straight = merge(straight, record);

    std::vector<Record> copies = history;
    copies.insert(copies.end(), history.begin(), history.begin() + 4);  // some come twice
    std::shuffle(copies.begin(), copies.end(), random);
    while (copies.size() > 1) {  // any two meet, wherever they are
      const std::size_t i = below(random, copies.size() - 1);
      copies[i] = merge(copies[i], copies[i + 1]);
      copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    ASSERT_EQ(copies[0], straight) << "round " << round;
  }
}

TEST(MergeUrlRecord, Design4_IsAJoinSemilattice) { expect_semilattice<UrlRecord>(random_record); }
TEST(MergeUrlRecord, Design4_AnyOrderGivesTheSame) { expect_any_order_gives_the_same<UrlRecord>(random_record); }
TEST(MergeHostClock, Design4_IsAJoinSemilattice) { expect_semilattice<HostClock>(random_clock); }
TEST(MergeHostClock, Design4_AnyOrderGivesTheSame) { expect_any_order_gives_the_same<HostClock>(random_clock); }

TEST(MergeUrlRecord, Design4_NeverForgets) {
  Random random(3);
  for (int round = 0; round < 20'000; ++round) {
    const UrlRecord a = random_record(random), b = random_record(random);
    const UrlRecord joined = merge(a, b);
    ASSERT_EQ(rank_by_the_book(joined), std::max(rank_by_the_book(a), rank_by_the_book(b)));
    if (rank_by_the_book(a) != rank_by_the_book(b)) {
      ASSERT_EQ(joined, rank_by_the_book(a) > rank_by_the_book(b) ? a : b) << "the higher rank wins whole";
    } else if (joined.state == UrlState::queued) {
      ASSERT_EQ(joined.depth, std::min(a.depth, b.depth));
      ASSERT_EQ(joined.redirects, std::min(a.redirects, b.redirects));
      ASSERT_EQ(joined.attempts, std::max(a.attempts, b.attempts));
      ASSERT_EQ(joined.changed, std::max(a.changed, b.changed));
    } else {
      ASSERT_TRUE(joined == a || joined == b);
      ASSERT_EQ(joined.changed, std::max(a.changed, b.changed)) << "of equal rank the later one wins";
    }
  }
}

TEST(MergeUrlRecord, RecordH_EachStepOfTheRankBeatsTheOneBelow) {
  const UrlRecord ladder[] = {{UrlState::excluded, Reason::depth, 9, 9, 9, 9, Time(Duration(9)), "u"},
                              {UrlState::queued, Reason::none, 1, 0, 0, 0, Time(Duration(0)), "u"},
                              {UrlState::excluded, Reason::robots, 1, 0, 0, 0, Time(Duration(1)), "u"},
                              {UrlState::failed, Reason::timeout, 1, 0, 0, 0, Time(Duration(0)), "u"},
                              {UrlState::fetched, Reason::none, 1, 0, 0, 200, Time(Duration(0)), "u"}};
  for (std::size_t low = 0; low < std::size(ladder); ++low)
    for (std::size_t high = low; high < std::size(ladder); ++high) {
      EXPECT_EQ(merge(ladder[low], ladder[high]), ladder[high]);
      EXPECT_EQ(merge(ladder[high], ladder[low]), ladder[high]);
    }
}

TEST(MergeHostClock, Design5_TheLaterTimeAndTheLargerFailuresWin) {
  const HostClock joined = merge(HostClock{Time(Duration(5)), 1, "h"}, HostClock{Time(Duration(3)), 7, "h"});
  EXPECT_EQ(joined, (HostClock{Time(Duration(5)), 7, "h"}));
}

// --- bytes --------------------------------------------------------------------------------------------------------

std::string bytes_of(const UrlRecord& record) {
  std::string out;
  encode_record(record, out);
  return out;
}
std::string bytes_of(const HostClock& clock) {
  std::string out;
  encode_clock(clock, out);
  return out;
}

TEST(RecordBytes, RecordH_LayoutIsPinned) {
  const UrlRecord record{
      UrlState::failed, Reason::http_status, 0x0102, 3, 4, 0x01f4, Time(Duration(0x0102030405060708)), "http://a.b/"};
  EXPECT_EQ(bytes_of(record),
            std::string("\x01\x03\x10\x01\x02\x03\x04\x01\xf4\x01\x02\x03\x04\x05\x06\x07\x08", 17) + "http://a.b/");
  EXPECT_EQ(bytes_of(HostClock{Time(Duration(1)), 2, "a.b"}),
            std::string("\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02", 13) + "a.b");
}

TEST(RecordBytes, RecordH_RoundTrip) {
  Random random(4);
  for (int round = 0; round < 5'000; ++round) {
    UrlRecord record = random_record(random);
    record.depth = static_cast<std::uint16_t>(random());
    record.status = static_cast<std::uint16_t>(random());
    record.changed = Time(Duration(static_cast<std::int64_t>(random())));
    record.url.append(below(random, 300), static_cast<char>(random()));
    const auto again = decode_record(bytes_of(record));
    ASSERT_TRUE(again);
    ASSERT_EQ(*again, record);

    const HostClock clock{record.changed, static_cast<std::uint32_t>(random()), "h" + std::to_string(round)};
    const auto same = decode_clock(bytes_of(clock));
    ASSERT_TRUE(same);
    ASSERT_EQ(*same, clock);
    ASSERT_TRUE(is_clock(bytes_of(clock)));
    ASSERT_FALSE(is_clock(bytes_of(record)));
  }
}

TEST(RecordBytes, RecordH_EncodeAppends) {
  std::string out = "before";
  encode_record({UrlState::queued, Reason::none, 0, 0, 0, 0, {}, "u"}, out);
  encode_clock({{}, 0, "h"}, out);
  EXPECT_EQ(out.size(), 6 + record_head_bytes + 1 + 13 + 1);
  EXPECT_TRUE(out.starts_with("before"));
}

TEST(RecordBytes, BadInput_EveryTruncationIsAnErrorOrAShorterText) {
  const UrlRecord record{UrlState::queued, Reason::none, 1, 2, 3, 4, Time(Duration(5)), "http://a.b/"};
  const std::string whole = bytes_of(record);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = decode_record(std::string_view(whole).substr(0, size));
    EXPECT_EQ(read.has_value(), size > record_head_bytes) << size;
    if (read) {
      EXPECT_EQ(read->url, record.url.substr(0, size - record_head_bytes));
    } else {
      EXPECT_EQ(read.error().kind, ErrorKind::corrupt) << size;
      EXPECT_FALSE(read.error().message.empty());
    }
  }
  const std::string clock = bytes_of(HostClock{Time(Duration(5)), 1, "a.b"});
  for (std::size_t size = 0; size < clock.size(); ++size)
    EXPECT_EQ(decode_clock(std::string_view(clock).substr(0, size)).has_value(), size > 13) << size;
  EXPECT_FALSE(is_clock(""));
}

TEST(RecordBytes, BadInput_StatesAndFormatsThatAreNoneAreRefused) {
  const std::string good = bytes_of(UrlRecord{UrlState::queued, Reason::none, 0, 0, 0, 0, {}, "http://a.b/"});
  for (int value = 0; value < 256; ++value) {
    std::string bytes = good;
    bytes[1] = static_cast<char>(value);
    EXPECT_EQ(decode_record(bytes).has_value(), value >= 1 && value <= 4) << "state " << value;
    bytes = good;
    bytes[0] = static_cast<char>(value);
    const auto read = decode_record(bytes);
    EXPECT_EQ(read.has_value(), value == record_format) << "format " << value;
    if (!read) {
      EXPECT_EQ(read.error().kind, ErrorKind::version);
    }
    EXPECT_EQ(decode_clock(bytes).has_value(), value == clock_format);
  }
}

// What can be read is what was written: no two byte strings mean the same record.
TEST(RecordBytes, BadInput_RandomBytesNeverCrashAndReadBackAsThemselves) {
  Random random(5);
  std::size_t read_well = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string bytes(below(random, 40), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (!bytes.empty()) bytes[0] = static_cast<char>(1 + below(random, 2));
    if (bytes.size() > 1) bytes[1] = static_cast<char>(below(random, 6));
    if (const auto record = decode_record(bytes)) {
      ++read_well;
      ASSERT_EQ(bytes_of(*record), bytes);
      ASSERT_EQ(merge(*record, *record), *record);
      ASSERT_FALSE(reason_name(record->reason).empty());  // a later version's reason has a name too: "unknown"
      ASSERT_FALSE(state_name(record->state).empty());
    }
    if (const auto clock = decode_clock(bytes)) {
      ASSERT_EQ(bytes_of(*clock), bytes);
    }
  }
  EXPECT_GT(read_well, 1'000u);
}

}  // namespace
}  // namespace orbweaver::storage
