// The laws of storage::merge (storage/record.h): all exchange of records between peers relies on them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "storage/record.h"
#include "tests/unit/random_records.h"

namespace orbweaver::storage {
namespace {

TEST(MergeUrlRecord, IsAJoinSemilattice) { expect_semilattice<UrlRecord>(random_record); }
TEST(MergeUrlRecord, AnyOrderGivesTheSame) { expect_any_order_gives_the_same<UrlRecord>(random_record); }
TEST(MergeHostClock, IsAJoinSemilattice) { expect_semilattice<HostClock>(random_clock); }
TEST(MergeRobots, IsAJoinSemilattice) { expect_semilattice<RobotsEntry>(random_robots); }
TEST(MergeRobots, AnyOrderGivesTheSame) { expect_any_order_gives_the_same<RobotsEntry>(random_robots); }
TEST(MergeHostClock, AnyOrderGivesTheSame) { expect_any_order_gives_the_same<HostClock>(random_clock); }

TEST(MergeUrlRecord, NeverForgets) {
  Random random(3);
  for (int round = 0; round < 20'000; ++round) {
    const UrlRecord a = random_record(random), b = random_record(random);
    const UrlRecord joined = merge(a, b);
    ASSERT_EQ(joined.visit, std::max(a.visit, b.visit));
    if (a.visit != b.visit) {
      ASSERT_EQ(joined, a.visit > b.visit ? a : b) << "the later visit wins whole";
      continue;
    }
    ASSERT_EQ(rank_by_the_book(joined), std::max(rank_by_the_book(a), rank_by_the_book(b)));
    if (rank_by_the_book(a) != rank_by_the_book(b)) {
      ASSERT_EQ(joined, rank_by_the_book(a) > rank_by_the_book(b) ? a : b) << "the higher rank wins whole";
    } else if (joined.state == UrlState::queued) {
      ASSERT_EQ(joined.depth, std::min(a.depth, b.depth));
      ASSERT_EQ(joined.steps, std::min(a.steps, b.steps));
      ASSERT_EQ(joined.off_site, std::min(a.off_site, b.off_site)) << "the lesser way off-site wins";
      ASSERT_EQ(joined.attempts, std::max(a.attempts, b.attempts));
      ASSERT_EQ(joined.since, std::max(a.since, b.since));
      ASSERT_EQ(joined.not_before, std::max(a.not_before, b.not_before)) << "no wait is shortened";
      ASSERT_EQ(joined.sitemap_visit, std::max(a.sitemap_visit, b.sitemap_visit));
      ASSERT_EQ(joined.lastmod, std::max(a.lastmod, b.lastmod));
      ASSERT_EQ(joined.score, std::max(a.score, b.score)) << "the highest that anybody told";
      ASSERT_TRUE(joined.validator == a.validator || joined.validator == b.validator);
    } else {
      ASSERT_TRUE(joined == a || joined == b);
      ASSERT_EQ(joined.since, std::max(a.since, b.since)) << "of equal rank the later one wins";
    }
  }
}

TEST(MergeUrlRecord, EachStepOfTheRankBeatsTheOneBelow) {
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

// The later fact wins, whichever of the two it is: that a server answered, or that it never did.
TEST(MergeRobots, TheOneKnownLaterWins) {
  const RobotsEntry rules{.fetched = Time(Duration(5)), .kind = 1, .body = "a"};
  RobotsEntry silent{.kind = 3, .unreachable_since = Time(Duration(4)), .cause = Reason::dns};
  EXPECT_EQ(merge(rules, silent), rules);
  silent.unreachable_since = Time(Duration(6));
  EXPECT_EQ(merge(rules, silent), silent);
}

TEST(MergeHostClock, TheLaterTimeAndTheLargerFailuresWin) {
  const HostClock joined = merge(HostClock{Time(Duration(5)), 1, "h", Duration(9), 2, 900},
                                 HostClock{Time(Duration(3)), 7, "h", Duration(8), 3, 800});
  EXPECT_EQ(joined, (HostClock{Time(Duration(5)), 7, "h", Duration(9), 3, 900}));
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

TEST(RecordBytes, LayoutIsPinned) {
  const UrlRecord record{
      UrlState::failed, Reason::http_status, 0x0102, 3, 4, 0x01f4, Time(Duration(0x0102030405060708)), "http://a.b/"};
  EXPECT_EQ(bytes_of(record),
            std::string("\x01\x03\x10\x01\x02\x03\x04\x01\xf4\x01\x02\x03\x04\x05\x06\x07\x08", 17) + "http://a.b/");
  EXPECT_EQ(
      bytes_of(HostClock{Time(Duration(1)), 2, "a.b", std::chrono::milliseconds(770)}),
      std::string("\x0b\x00\x00\x00\x00\x00\x00\x00\x01\x05\x26\x5c\x00\x00\x00\x00\x02\x00\x00\x03\x02", 21) + "a.b")
      << "without a wait of its own, it is the longest";
}

// The clock may be set back between two processes: what is left of a wait is never more than all of it.
TEST(RecordBytes, AHostsWaitIsNoLongerThanItWasAtFirst) {
  const Time at{std::chrono::hours{480'000}};
  const HostClock clock{at, 0, "a.b", {}, 0, 0, std::chrono::seconds{5}};
  EXPECT_EQ(*decode_clock(bytes_of(clock)), clock);
  EXPECT_EQ(clock.until(at - std::chrono::seconds{2}), at);
  const Time back = at - std::chrono::hours{24 * 365};
  EXPECT_EQ(clock.until(back), back + std::chrono::seconds{5});
  std::string wire;
  encode_wait(clock, back, wire);
  EXPECT_EQ(decode_wait(wire, back)->next_allowed, back + std::chrono::seconds{5});
}

TEST(RecordBytes, HopsOffSiteAndUseAreWrittenOnlyWhenThereAreAny) {
  UrlRecord record{UrlState::queued, Reason::none, 1, 0, 0, 0, Time(Duration(2)), "http://a.b/"};
  EXPECT_EQ(bytes_of(record)[0], 1);
  record.off_site = 3;
  EXPECT_EQ(
      bytes_of(record),
      std::string("\x09\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x01\x03", 19) + "http://a.b/");
  EXPECT_EQ(*decode_record(bytes_of(record)), record);
  UrlRecord scored{UrlState::queued, Reason::none, 1, 0, 0, 0, Time(Duration(2)), "http://a.b/"};
  scored.score = 0x0102;
  EXPECT_EQ(bytes_of(scored).substr(record_head_bytes), std::string("\x02\x01\x02", 3) + "http://a.b/");
  EXPECT_EQ(*decode_record(bytes_of(scored)), scored);
  std::string no_score = bytes_of(scored);
  no_score[record_head_bytes + 1] = no_score[record_head_bytes + 2] = '\0';
  EXPECT_FALSE(decode_record(no_score)) << "a score of 0 is none";
  scored.off_site = 3;
  EXPECT_EQ(bytes_of(scored).substr(record_head_bytes), std::string("\x03\x03\x01\x02", 4) + "http://a.b/");
  EXPECT_EQ(*decode_record(bytes_of(scored)), scored);
  for (const int hops : {0, max_off_site + 1, 255}) {
    std::string bytes = bytes_of(record);
    bytes[record_head_bytes + 1] = static_cast<char>(hops);
    EXPECT_FALSE(decode_record(bytes)) << hops;
  }
  record.off_site = 0;
  record.visit = 0x0102;
  record.lastmod = Time(Duration(3));
  record.validator = "\"v\"";
  const std::string whole = bytes_of(record);
  EXPECT_EQ(whole.substr(record_head_bytes),
            std::string("\x1c\x01\x02\x00\x00\x00\x00\x00\x00\x00\x03\x03\"v\"", 15) + "http://a.b/");
  EXPECT_EQ(*decode_record(whole), record);
  for (std::size_t size = 0; size <= record_head_bytes + 15; ++size)
    EXPECT_FALSE(decode_record(std::string_view(whole).substr(0, size))) << size;
  for (const int fields : {0, 0x1d, 0x9c, 0xff}) {
    std::string bytes = whole;
    bytes[record_head_bytes] = static_cast<char>(fields);
    EXPECT_FALSE(decode_record(bytes) && fields != 0x1d) << fields;
  }
  UrlRecord again{UrlState::queued, Reason::tls, 1, 0, 2, 0, {}, "http://a.b/"};
  again.not_before = Time(Duration(0x0102));
  EXPECT_EQ(bytes_of(again), std::string("\x09\x01\x13\x00\x01\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 17) +
                                 std::string("\x20\x00\x00\x00\x00\x00\x00\x01\x02", 9) + "http://a.b/")
      << "a time to wait for has a place of its own";
  EXPECT_EQ(*decode_record(bytes_of(again)), again);
  again.sitemap_visit = 0x0304;
  const std::string both = bytes_of(again);
  EXPECT_EQ(both.substr(record_head_bytes),
            std::string("\x60\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04", 11) + "http://a.b/");
  EXPECT_EQ(*decode_record(both), again);
  for (const std::size_t zeros : {8u, 2u}) {  // an empty field is not written
    std::string bytes = both;
    bytes.replace(record_head_bytes + (zeros == 8 ? 1 : 9), zeros, zeros, '\0');
    EXPECT_FALSE(decode_record(bytes)) << zeros;
  }
  const HostClock used{Time(Duration(1)), 2, "a.b", std::chrono::milliseconds(770), 3, 0x0102};
  EXPECT_EQ(bytes_of(used), std::string("\x0c\x00\x00\x00\x00\x00\x00\x00\x01", 9) +
                                std::string("\x05\x26\x5c\x00\x00\x00\x00\x02\x00\x00\x03\x02", 12) +
                                std::string("\x00\x00\x00\x00\x00\x00\x00\x03", 8) +
                                std::string("\x00\x00\x00\x00\x00\x00\x01\x02", 8) + "a.b");
  EXPECT_EQ(*decode_clock(bytes_of(used)), used);
  std::string wait;
  encode_wait(used, Time(Duration(1)), wait);
  EXPECT_EQ(wait[0], 8);
  EXPECT_EQ(wire_kind(wait), WireKind::wait);
  HostClock read = used;
  read.wait = {};  // what was left of it
  EXPECT_EQ(*decode_wait(wait, Time(Duration(1))), read);
}

TEST(RecordBytes, RoundTrip) {
  Random random(4);
  for (int round = 0; round < 5'000; ++round) {
    UrlRecord record = random_record(random);
    record.depth = static_cast<std::uint16_t>(random());
    record.status = static_cast<std::uint16_t>(random());
    record.since = Time(Duration(static_cast<std::int64_t>(random())));
    record.not_before = Time(Duration(static_cast<std::int64_t>(random())));
    record.sitemap_visit = static_cast<std::uint16_t>(below(random, 2) * random());
    record.url.append(below(random, 300), static_cast<char>(random()));
    record.off_site = static_cast<std::uint8_t>(below(random, max_off_site + 1));
    record.visit = static_cast<std::uint16_t>(below(random, 2) * random());
    record.score = static_cast<std::uint16_t>(below(random, 2) * random());
    record.validator.assign(below(random, max_validator_bytes + 1), 'v');
    const auto again = decode_record(bytes_of(record));
    ASSERT_TRUE(again);
    ASSERT_EQ(*again, record);

    const HostClock clock{record.since, static_cast<std::uint32_t>(random()), "h" + std::to_string(round)};
    const auto same = decode_clock(bytes_of(clock));
    ASSERT_TRUE(same);
    ASSERT_EQ(*same, clock);
    ASSERT_EQ(wire_kind(bytes_of(record)), WireKind::record);
    ASSERT_EQ(wire_kind(bytes_of(clock)), WireKind::unknown) << "a clock is for the disk only: it tells a time of day";
  }
}

TEST(RecordBytes, EncodeAppends) {
  std::string out = "before";
  encode_record({UrlState::queued, Reason::none, 0, 0, 0, 0, {}, "u"}, out);
  encode_clock({{}, 0, "h"}, out);
  EXPECT_EQ(out.size(), 6 + record_head_bytes + 1 + 21 + 1);
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
    EXPECT_EQ(decode_clock(std::string_view(clock).substr(0, size)).has_value(), size > 21) << size;
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
    if (!read && value != long_record_format) {  // read as that format, its fields are wrong
      EXPECT_EQ(read.error().kind, ErrorKind::version);
    }
    EXPECT_EQ(decode_clock(bytes).has_value(), value == clock_format);
  }
}

// --- on the wire: times from now on --------------------------------------------------------------------------------

Time at_us(std::int64_t microseconds) { return Time(Duration(microseconds)); }
constexpr std::int64_t day_us = 24ll * 3600 * 1'000'000;

std::string wait_of(const HostClock& clock, Time now) {
  std::string out;
  encode_wait(clock, now, out);
  return out;
}
std::string robots_of(const std::string& origin, const RobotsEntry& entry, Time now) {
  std::string out;
  encode_robots(origin, entry, now, out);
  return out;
}

TEST(WireForms, LayoutIsPinned) {
  EXPECT_EQ(wait_of({at_us(1'000'258), 5, "a.b", std::chrono::milliseconds(770)}, at_us(1'000'000)),
            std::string("\x03\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x00\x05\x00\x00\x03\x02", 17) + "a.b");
  EXPECT_EQ(robots_of("http://a.b", {at_us(1'000'000 - 3), at_us(1'000'000 + 4), 9, "body"}, at_us(1'000'000)),
            std::string("\x0a\x09\0\0\0\0\0\0\0\x04\x01\0\0\0\0\0\0\0\x03\x00\x0a", 21) + "http://a.bbody");
  const RobotsEntry silent{.expires = at_us(1'000'000 + 4),
                           .kind = 3,
                           .unreachable_since = at_us(1'000'000 - 3),
                           .cause = Reason::http_status,
                           .status = 503};
  EXPECT_EQ(robots_of("http://a.b", silent, at_us(1'000'000)),
            std::string("\x0a\x03\0\0\0\0\0\0\0\x04\x06\0\0\0\0\0\0\0\x03\x10\x01\xf7\x00\x0a", 24) + "http://a.b");
  std::string cookies;
  encode_cookies({"a.b", 258, at_us(5), "jar"}, cookies);
  EXPECT_EQ(cookies, std::string("\x0d\0\0\0\0\0\0\x01\x02\0\0\0\0\0\0\0\x05\x00\x03", 19) + "a.bjar");
  std::string use;
  encode_use({"a.b", 258, 5}, use);
  EXPECT_EQ(use, std::string("\x0e\0\0\0\0\0\0\x01\x02\0\0\0\0\0\0\0\x05", 17) + "a.b");
  EXPECT_EQ(wire_kind(cookies), WireKind::cookies);
  EXPECT_EQ(wire_kind(wait_of({}, {})), WireKind::wait);
  EXPECT_EQ(wire_kind(robots_of("", {}, {})), WireKind::robots);
  EXPECT_EQ(wire_kind(""), WireKind::unknown);
  for (int value = 0; value < 256; ++value) {
    const bool known =
        value == 1 || value == 3 || value == 5 || (value >= 8 && value <= 10) || value == 13 || value == 14;
    EXPECT_EQ(wire_kind(std::string(1, static_cast<char>(value))) != WireKind::unknown, known) << value;
  }
}

// The two peers' clocks may differ by years: the rest of a wait is the same for both.
TEST(WireForms, WaitsSurviveClocksThatDiffer) {
  Random random(6);
  for (int round = 0; round < 5'000; ++round) {
    const Time local = at_us(static_cast<std::int64_t>(random() >> 14)),
               remote = at_us(static_cast<std::int64_t>(random() >> 14));
    const auto wait = static_cast<std::int64_t>(random() % (2 * day_us)) - day_us;
    const HostClock clock{local + Duration(wait), static_cast<std::uint32_t>(random()), "h" + std::to_string(round)};
    const auto read = decode_wait(wait_of(clock, local), remote);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->next_allowed, remote + Duration(std::max<std::int64_t>(wait, 0))) << "round " << round;
    ASSERT_EQ(read->failures, clock.failures);
    ASSERT_EQ(read->host, clock.host);

    const auto age = static_cast<std::int64_t>(random() % day_us), left = static_cast<std::int64_t>(random() % day_us);
    RobotsEntry entry{local - Duration(age), local + Duration(left), static_cast<std::uint8_t>(random()),
                      std::string(below(random, 50), static_cast<char>(random()))};
    RobotsEntry wanted{remote - Duration(age), remote + Duration(left), entry.kind, entry.body};
    if (below(random, 2) == 0) {
      for (RobotsEntry* robots : {&entry, &wanted}) {
        std::swap(robots->fetched, robots->unreachable_since);
        robots->cause = Reason::http_status;
        robots->status = 503;
      }
    }
    const std::string origin = "https://h" + std::to_string(round);
    const auto robots = decode_robots(robots_of(origin, entry, local), remote);
    ASSERT_TRUE(robots);
    ASSERT_EQ(robots->first, origin);
    ASSERT_EQ(robots->second, wanted);
  }
}

// Of two waits on the wire the longer one wins, whenever each is read: the transfer never shortens a wait.
TEST(WireForms, TheWayOnlyMakesAWaitLonger) {
  const HostClock clock{at_us(5'000'000), 2, "h", {}, 0, 0, std::chrono::seconds{4}};
  const std::string sent = wait_of(clock, at_us(1'000'000));
  for (const std::int64_t later : {0, 1, 3'000'000, 90'000'000}) {
    const auto read = decode_wait(sent, at_us(1'000'000 + later));
    ASSERT_TRUE(read);
    EXPECT_GE(read->next_allowed, clock.next_allowed);
    EXPECT_EQ(merge(clock, *read), *read);
  }
}

TEST(WireForms, TheTimeOfHoldingTravelsAsAnAge) {
  std::string sent;
  encode_last_access_unknown(at_us(1'000'000 - 258), at_us(1'000'000), sent);
  EXPECT_EQ(sent, std::string("\x05\x00\x00\x00\x00\x00\x00\x01\x02", 9));
  EXPECT_EQ(wire_kind(sent), WireKind::last_access_unknown);
  EXPECT_EQ(*decode_last_access_unknown(sent, at_us(5'000)), at_us(5'000 - 258)) << "by the reader's clock";
  std::string ahead;
  encode_last_access_unknown(at_us(9), at_us(1), ahead);
  EXPECT_EQ(*decode_last_access_unknown(ahead, at_us(3)), at_us(3)) << "never later than now";
  for (std::size_t size = 0; size <= sent.size() + 1; ++size) {
    std::string bytes = sent;
    bytes.resize(size);
    const auto read = decode_last_access_unknown(bytes, at_us(1));
    EXPECT_EQ(read.has_value(), size == 9) << size;
    if (!read) {
      EXPECT_EQ(read.error().kind, ErrorKind::corrupt);
    }
  }
  EXPECT_FALSE(decode_last_access_unknown(std::string(9, '\x03'), at_us(1)));
}

TEST(WireForms, BadInput_NoPeersMistakeMakesAWaitOfYears) {
  for (const std::uint64_t reported : {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t(day_us) + 1}) {
    std::string wait("\x03", 1), robots("\x0a\x01", 2), eight;
    for (int shift = 56; shift >= 0; shift -= 8) eight.push_back(static_cast<char>((reported >> shift) & 0xff));
    wait += eight + std::string("\0\0\0\x01\xff\xff\xff\xffh", 9);
    robots += eight + std::string("\x03", 1) + eight + eight + std::string("\0\x01o", 3);
    const auto clock = decode_wait(wait, at_us(7));
    ASSERT_TRUE(clock);
    EXPECT_EQ(clock->next_allowed, at_us(7 + day_us));
    const auto entry = decode_robots(robots, at_us(7));
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->second.expires, at_us(7 + day_us));
    EXPECT_EQ(entry->second.fetched, at_us(7 - day_us));
    EXPECT_EQ(entry->second.unreachable_since, at_us(7 - day_us));
  }
}

TEST(WireForms, BadInput_EveryTruncationIsAnErrorOrAShorterText) {
  const std::string wait = wait_of({at_us(50), 1, "host"}, at_us(1));
  for (std::size_t size = 0; size < wait.size(); ++size) {
    const auto read = decode_wait(std::string_view(wait).substr(0, size), at_us(1));
    ASSERT_EQ(read.has_value(), size > 17) << size;
    if (!read) {
      EXPECT_EQ(read.error().kind, ErrorKind::corrupt);
    }
  }
  const std::string robots = robots_of("http://a.b", {at_us(1), at_us(9), 2, "body"}, at_us(5));
  for (std::size_t size = 0; size < robots.size(); ++size) {
    const auto read = decode_robots(std::string_view(robots).substr(0, size), at_us(5));
    ASSERT_EQ(read.has_value(), size >= 31) << size;
    if (read) {
      EXPECT_EQ(read->first, "http://a.b");
      EXPECT_EQ(read->second.body, std::string("body").substr(0, size - 31));
    } else {
      EXPECT_EQ(read.error().kind, ErrorKind::corrupt);
    }
  }
}

// --- sums -----------------------------------------------------------------------------------------------------------

// Each field that merge uses changes the digest; the URL does so through its own digest.
TEST(RecordDigest, TellsRecordsThatDiffer) {
  std::array<std::uint8_t, 16> url{};
  const UrlRecord record{UrlState::failed, Reason::dns, 1, 1, 1, 1, at_us(1), "http://a.b/"};
  std::vector<UrlRecord> others(15, record);
  others[0].state = UrlState::fetched;
  others[1].reason = Reason::tls;
  others[2].depth = 0x0101;
  others[3].steps = 2;
  others[4].attempts = 2;
  others[5].status = 0x0101;
  others[6].since = at_us(2);
  others[7].off_site = 1;
  others[8].visit = 1;
  others[9].lastmod = at_us(1);
  others[10].validator = "\"1\"";
  others[11].score = 1;
  others[12].score = 256;
  others[13].not_before = at_us(1);
  others[14].sitemap_visit = 1;
  std::set<std::uint64_t> seen = {record_digest(url, record)};
  for (const UrlRecord& other : others) EXPECT_TRUE(seen.insert(record_digest(url, other)).second);
  for (std::size_t i = 0; i < url.size(); ++i) {
    std::array<std::uint8_t, 16> changed = url;
    changed[i] = 1;
    EXPECT_TRUE(seen.insert(record_digest(changed, record)).second) << "byte " << i;
  }
  UrlRecord bare = record;
  bare.url.clear();
  EXPECT_EQ(record_digest(url, bare), record_digest(url, record)) << "a queued row has no text";
  EXPECT_FALSE(seen.contains(0));
}

// Sums over few records that differ little do not collide.
TEST(RecordDigest, SumsOfDifferentSetsDiffer) {
  Random random(7);
  std::map<std::uint64_t, std::vector<std::size_t>> sums;
  for (int round = 0; round < 20'000; ++round) {
    std::set<std::size_t> chosen;
    for (std::size_t i = 1 + below(random, 4); i > 0; --i) chosen.insert(below(random, 64));
    std::uint64_t sum = 0;
    for (const std::size_t number : chosen) {
      std::array<std::uint8_t, 16> url{};
      url[15] = static_cast<std::uint8_t>(number / 8);
      UrlRecord record;
      record.depth = static_cast<std::uint16_t>(number % 8);
      sum += record_digest(url, record);
    }
    const std::vector<std::size_t> numbers(chosen.begin(), chosen.end());
    ASSERT_EQ(sums.emplace(sum, numbers).first->second, numbers);
  }
  EXPECT_GT(sums.size(), 5'000u);
}

// Bytes that can be read are exactly the bytes that would be written: no two byte strings mean the same record.
TEST(RecordBytes, BadInput_RandomBytesNeverCrashAndReadBackAsThemselves) {
  Random random(5);
  std::size_t read_well = 0, waits_read = 0, robots_read = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string bytes(below(random, 40), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (!bytes.empty()) bytes[0] = static_cast<char>(below(random, 8) == 0 ? 9 : 1 + below(random, 4));
    if (!bytes.empty() && below(random, 5) == 0) bytes[0] = 10;
    if (bytes.size() > 1) bytes[1] = static_cast<char>(below(random, 6));
    if (bytes.size() > 19) bytes[18] = '\0', bytes[19] = static_cast<char>(below(random, 24));
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
    if (const auto wait = decode_wait(bytes, at_us(day_us))) {
      ++waits_read;
      ASSERT_LE(wait->next_allowed, at_us(2 * day_us));
      ASSERT_EQ(*decode_wait(wait_of(*wait, at_us(day_us)), at_us(day_us)), *wait);
    }
    if (bytes.size() > 22 && bytes[0] == 10) {  // its fields, and a possible length of the origin
      const std::size_t fields = below(random, 3);
      bytes[10] = static_cast<char>(fields);
      bytes[fields == 0 ? 11 : 19] = '\0';
      bytes[fields == 0 ? 12 : 20] = static_cast<char>(below(random, 24));
    }
    if (const auto robots = decode_robots(bytes, at_us(2 * day_us))) {
      ++robots_read;
      ASSERT_EQ(*decode_robots(robots_of(robots->first, robots->second, at_us(2 * day_us)), at_us(2 * day_us)),
                *robots);
    }
  }
  EXPECT_GT(read_well, 1'000u);
  EXPECT_GT(waits_read, 1'000u);
  EXPECT_GT(robots_read, 1'000u);
}

}  // namespace
}  // namespace orbweaver::storage
