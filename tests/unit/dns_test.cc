#include <gtest/gtest.h>

#include <string>

#include "node/fetch/dns_cache.h"
#include "node/fetch/dns_message.h"

namespace orbweaver {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::string u16(unsigned value) { return {static_cast<char>(value >> 8), static_cast<char>(value & 0xff)}; }
std::string u32(std::uint32_t value) { return u16(value >> 16) + u16(value & 0xffff); }

std::string record(unsigned type, std::uint32_t ttl, const std::string& data) {
  return "\xc0\x0c" + u16(type) + u16(1) + u32(ttl) + u16(static_cast<unsigned>(data.size())) + data;
}

// An answer to a question for a.test.
std::string message(unsigned rcode, const std::vector<std::string>& answers,
                    const std::vector<std::string>& authority = {}) {
  std::string out = u16(7) + u16(0x8180 | rcode) + u16(1) + u16(static_cast<unsigned>(answers.size())) +
                    u16(static_cast<unsigned>(authority.size())) + u16(0);
  out += std::string("\1a\4test\0", 8) + u16(1) + u16(1);
  for (const std::string& one : answers) out += one;
  for (const std::string& one : authority) out += one;
  return out;
}

std::string soa(std::uint32_t ttl, std::uint32_t minimum) {
  return record(6, ttl, std::string("\2ns\0\0", 5) + u32(1) + u32(2) + u32(3) + u32(4) + u32(minimum));
}

const std::string four("\xc0\x00\x02\x01", 4);

DnsAnswer found(std::vector<IpAddress> addresses, seconds ttl) {
  return {DnsAnswer::Kind::addresses, std::move(addresses), ttl, {}};
}
DnsAnswer absent(DnsAnswer::Kind kind, seconds ttl) { return {kind, {}, ttl, {}}; }

constexpr DnsLifetimes lifetimes{seconds{30}, hours{24}, minutes{5}, seconds{2}};
const DnsTime now{hours{1000}};

TEST(DnsMessage, Rfc1035_AddressesWithTheLeastTtlOfTheWay) {
  const DnsAnswer answer = parse_dns_answer(
      message(0, {record(5, 40, std::string("\1b\xc0\x0e", 4)), record(1, 300, four), record(1, 200, four)}),
      DnsType::a);
  ASSERT_EQ(answer.kind, DnsAnswer::Kind::addresses);
  EXPECT_EQ(answer.addresses.size(), 2u);
  EXPECT_EQ(answer.addresses.front().text(), "192.0.2.1");
  EXPECT_EQ(answer.ttl, seconds{40});
}

TEST(DnsMessage, Rfc3596_Ipv6) {
  const std::string six = std::string("\x20\x01\x0d\xb8", 4) + std::string(11, '\0') + "\1";
  const DnsAnswer answer = parse_dns_answer(message(0, {record(28, 9, six)}), DnsType::aaaa);
  ASSERT_EQ(answer.addresses.size(), 1u);
  EXPECT_EQ(answer.addresses.front().text(), "2001:db8::1");
}

TEST(DnsMessage, RecordsOfAnotherTypeAreNoAddresses) {
  EXPECT_EQ(parse_dns_answer(message(0, {record(1, 9, four)}), DnsType::aaaa).kind, DnsAnswer::Kind::no_data);
}

TEST(DnsMessage, Rfc2181_8_TtlWithItsTopBitSetIsZero) {
  EXPECT_EQ(parse_dns_answer(message(0, {record(1, 0x80000001, four)}), DnsType::a).ttl, seconds{0});
}

TEST(DnsMessage, Rfc2308_5_NegativeTtlIsTheLesserOfSoaTtlAndMinimum) {
  const DnsAnswer gone = parse_dns_answer(message(3, {}, {soa(900, 60)}), DnsType::a);
  EXPECT_EQ(gone.kind, DnsAnswer::Kind::no_name);
  EXPECT_EQ(gone.ttl, seconds{60});
  const DnsAnswer empty = parse_dns_answer(message(0, {}, {soa(50, 600)}), DnsType::a);
  EXPECT_EQ(empty.kind, DnsAnswer::Kind::no_data);
  EXPECT_EQ(empty.ttl, seconds{50});
  EXPECT_EQ(parse_dns_answer(message(3, {}), DnsType::a).ttl, seconds{0});
}

TEST(DnsMessage, ServerFailuresAreNamed) {
  const DnsAnswer answer = parse_dns_answer(message(2, {}), DnsType::a);
  EXPECT_EQ(answer.kind, DnsAnswer::Kind::failed);
  EXPECT_EQ(answer.problem, "the name server says SERVFAIL");
}

TEST(DnsMessage, WhateverIsCutOffFailsAndIsNotReadBeyond) {
  const std::string whole = message(0, {record(5, 40, std::string("\1b\xc0\x0e", 4)), record(1, 300, four)});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(parse_dns_answer(std::string(whole, 0, size), DnsType::a).kind, DnsAnswer::Kind::failed) << size;
}

TEST(DnsMessage, LabelsOfAReservedKindAndAddressesOfAWrongSizeFail) {
  std::string reserved = message(0, {record(1, 9, four)});
  reserved[12] = '\x80';
  EXPECT_EQ(parse_dns_answer(reserved, DnsType::a).kind, DnsAnswer::Kind::failed);
  EXPECT_EQ(parse_dns_answer(message(0, {record(1, 9, "123")}), DnsType::a).kind, DnsAnswer::Kind::failed);
}

TEST(DnsMessage, NoMoreAddressesThanTheBound) {
  const std::vector<std::string> many(100, record(1, 9, four));
  EXPECT_EQ(parse_dns_answer(message(0, many), DnsType::a).addresses.size(), max_dns_addresses);
}

TEST(DnsJoin, Rfc8305_4_Ipv6ComesFirst) {
  const DnsEntry entry = join_answers(found({*parse_ip("2001:db8::1")}, seconds{100}),
                                      found({*parse_ip("192.0.2.1")}, seconds{50}), lifetimes, now);
  ASSERT_EQ(entry.addresses.size(), 2u);
  EXPECT_EQ(entry.addresses.front().size, 16u);
  EXPECT_EQ(entry.expires, now + seconds{50});
}

TEST(DnsJoin, TtlIsKeptWithinItsBounds) {
  const auto expires = [](seconds ttl) {
    return join_answers({}, found({*parse_ip("192.0.2.1")}, ttl), lifetimes, now).expires - now;
  };
  EXPECT_EQ(expires(seconds{0}), seconds{30});
  EXPECT_EQ(expires(seconds{77}), seconds{77});
  EXPECT_EQ(expires(hours{500}), hours{24});
}

TEST(DnsJoin, OneFamilysFailureDoesTheOtherNoHarm) {
  const DnsEntry entry = join_answers({}, found({*parse_ip("192.0.2.1")}, seconds{60}), lifetimes, now);
  EXPECT_TRUE(entry.failure.empty());
  EXPECT_EQ(entry.addresses.size(), 1u);
}

TEST(DnsJoin, NegativeAnswersAreKeptByTheirSoaWithinBounds) {
  const auto kept = [](seconds reported) {
    const DnsAnswer gone = absent(DnsAnswer::Kind::no_name, reported);
    return join_answers(gone, gone, lifetimes, now).expires - now;
  };
  EXPECT_EQ(kept(seconds{0}), seconds{2});
  EXPECT_EQ(kept(seconds{90}), seconds{90});
  EXPECT_EQ(kept(hours{5}), minutes{5});
}

TEST(DnsJoin, FailuresAreKeptShortlyAndSayWhy) {
  DnsAnswer failed;
  failed.problem = "the name server says REFUSED";
  const DnsEntry entry = join_answers(failed, failed, lifetimes, now);
  EXPECT_EQ(entry.failure, "the name server says REFUSED");
  EXPECT_EQ(entry.expires, now + seconds{2});
  const DnsEntry gone = join_answers(failed, absent(DnsAnswer::Kind::no_name, seconds{9}), lifetimes, now);
  EXPECT_EQ(gone.failure, "the name does not exist (NXDOMAIN)");
  const DnsAnswer none = absent(DnsAnswer::Kind::no_data, seconds{9});
  EXPECT_EQ(join_answers(none, none, lifetimes, now).failure, "the name has no address");
}

DnsEntry until(DnsTime time) { return {{*parse_ip("192.0.2.1")}, {}, time}; }

TEST(DnsCache, AnEntryEndsAtItsTime) {
  DnsCache cache(10);
  cache.put("a.test", until(now + seconds{5}));
  EXPECT_NE(cache.find("a.test", now + milliseconds{4999}), nullptr);
  EXPECT_EQ(cache.find("a.test", now + seconds{5}), nullptr);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(DnsCache, IsBoundedAndDropsWhatWasNotAskedForLongest) {
  DnsCache cache(3);
  for (const char* host : {"a.test", "b.test", "c.test"}) cache.put(host, until(now + hours{1}));
  EXPECT_NE(cache.find("a.test", now), nullptr);
  cache.put("d.test", until(now + hours{1}));
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(cache.find("b.test", now), nullptr);
  EXPECT_NE(cache.find("a.test", now), nullptr);
}

TEST(DnsCache, ANewAnswerTakesTheOldOnesPlace) {
  DnsCache cache(3);
  cache.put("a.test", until(now + seconds{1}));
  cache.put("a.test", until(now + seconds{9}));
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_NE(cache.find("a.test", now + seconds{5}), nullptr);
}

TEST(HostsFile, NamesInLowerCaseCommentsAndRubbishPassedOver) {
  const auto hosts = parse_hosts_file(
      "127.0.0.1 localhost # here\n\n  10.0.0.7\tDB.Inner db\n::1 localhost\nrubbish here\n10.0.0.8 db\n10.0.0.8 db");
  EXPECT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts.at("localhost").size(), 2u);
  EXPECT_EQ(hosts.at("db.inner").front().text(), "10.0.0.7");
  EXPECT_EQ(hosts.at("db").size(), 2u);
}

}  // namespace
}  // namespace orbweaver
