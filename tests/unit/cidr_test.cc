// Address ranges (RFC 4632, RFC 4291) and places as text.
#include "node/settings/cidr.h"

#include <gtest/gtest.h>

#include <random>

#include "node/settings/endpoint.h"

namespace orbweaver {
namespace {

bool covers(std::string_view range, std::string_view address) {
  const auto cidr = Cidr::parse(range);
  const auto ip = parse_ip(address);
  EXPECT_TRUE(cidr) << range;
  EXPECT_TRUE(ip) << address;
  return cidr && ip && cidr->contains(*ip);
}

TEST(Cidr, Rfc4632_PrefixDecides) {
  EXPECT_TRUE(covers("10.0.0.0/8", "10.255.255.255"));
  EXPECT_FALSE(covers("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(covers("172.16.0.0/12", "172.31.255.255"));
  EXPECT_FALSE(covers("172.16.0.0/12", "172.32.0.0"));
  EXPECT_TRUE(covers("192.0.2.7", "192.0.2.7"));
  EXPECT_FALSE(covers("192.0.2.7", "192.0.2.6"));
  EXPECT_TRUE(covers("0.0.0.0/0", "255.255.255.255"));
  EXPECT_TRUE(covers("192.0.2.6/31", "192.0.2.7"));
}

TEST(Cidr, Rfc4291_Ipv6PrefixDecides) {
  EXPECT_TRUE(covers("fd00::/8", "fdff::1"));
  EXPECT_FALSE(covers("fd00::/8", "fe80::1"));
  EXPECT_TRUE(covers("::1", "::1"));
  EXPECT_TRUE(covers("fe80::/10", "febf::1"));
  EXPECT_FALSE(covers("fe80::/10", "fec0::1"));
  EXPECT_TRUE(covers("2001:db8::/33", "2001:db8:7fff::"));
  EXPECT_FALSE(covers("2001:db8::/33", "2001:db8:8000::"));
}

TEST(Cidr, FamiliesAreApart) {
  EXPECT_FALSE(covers("0.0.0.0/0", "::1"));
  EXPECT_FALSE(covers("::/0", "127.0.0.1"));
}

TEST(Cidr, Rfc4291_MappedAddressIsTheIpv4Address) {
  EXPECT_TRUE(covers("10.0.0.0/8", "::ffff:10.1.2.3"));
  EXPECT_FALSE(covers("::/0", "::ffff:10.1.2.3"));
  EXPECT_TRUE(covers("::ffff:10.0.0.0/104", "10.1.2.3"));
  EXPECT_EQ(Cidr::parse("::ffff:10.0.0.0/104")->text(), "10.0.0.0/8");
  const std::uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  EXPECT_TRUE(Cidr::parse("127.0.0.0/8")->contains(mapped));
}

TEST(Cidr, ContainsTakesFourOrSixteenBytesOnly) {
  const std::uint8_t bytes[5] = {10, 0, 0, 1, 0};
  const auto range = Cidr::parse("10.0.0.0/8");
  EXPECT_TRUE(range->contains(std::span(bytes, 4)));
  EXPECT_FALSE(range->contains(std::span(bytes, 5)));
  EXPECT_FALSE(range->contains(std::span(bytes, 0)));
}

TEST(Cidr, RefusesWhatIsNoRange) {
  for (const std::string_view text : {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/ 8",
                                      "10.0.0.0/8x", "10.0.0/8", "010.0.0.1", "1.2.3.4.5", "256.0.0.1", "::/129",
                                      "fe80::1%eth0", "[::1]", ":::", "localhost", "10.0.0.0/8/8", "0x7f.0.0.1"}) {
    const auto range = Cidr::parse(text);
    ASSERT_FALSE(range) << text;
    EXPECT_EQ(range.error().code, ErrorCode::invalid_setting);
  }
  EXPECT_FALSE(Cidr::parse(std::string_view("10.0.0.1\0", 9)));
}

TEST(Cidr, BitsBeyondThePrefixAreRefusedWithBothReadings) {
  const auto range = Cidr::parse("10.1.2.3/8");
  ASSERT_FALSE(range);
  EXPECT_NE(range.error().message.find("10.0.0.0/8"), std::string::npos) << range.error().message;
  EXPECT_NE(range.error().message.find("10.1.2.3/32"), std::string::npos) << range.error().message;
}

// The slow obvious twin: compare bit by bit.
bool covers_bit_by_bit(const IpAddress& first, unsigned bits, const IpAddress& address) {
  if (first.size != address.size) return false;
  for (unsigned i = 0; i < bits; ++i) {
    if (((first.bytes[i / 8] ^ address.bytes[i / 8]) >> (7 - i % 8)) & 1) return false;
  }
  return true;
}

TEST(Cidr, AgreesWithBitByBitTwin) {
  std::mt19937 random(4632);
  int inside = 0;
  for (int i = 0; i < 50000; ++i) {
    IpAddress first;
    first.size = random() % 2 != 0 ? 4 : 16;
    const auto bits = static_cast<unsigned>(random() % (first.size * 8 + 1));
    for (std::size_t b = 0; b < first.size; ++b) first.bytes[b] = static_cast<std::uint8_t>(random());
    IpAddress address = first;
    address.bytes[random() % first.size] ^= static_cast<std::uint8_t>(1U << (random() % 8));
    for (unsigned b = bits; b < first.size * 8; ++b)
      first.bytes[b / 8] &= static_cast<std::uint8_t>(~(0x80U >> (b % 8)));
    const auto range = Cidr::parse(first.text() + "/" + std::to_string(bits));
    ASSERT_TRUE(range) << first.text() << "/" << bits;
    const bool expected = covers_bit_by_bit(first, bits, address);
    ASSERT_EQ(range->contains(address), expected) << range->text() << " " << address.text();
    ASSERT_EQ(Cidr::parse(range->text())->text(), range->text());
    inside += expected ? 1 : 0;
  }
  EXPECT_GT(inside, 10000);
  EXPECT_LT(inside, 40000);
}

TEST(Endpoint, ReadsAddressesAndNames) {
  const auto v4 = parse_endpoint("127.0.0.1:7700");
  ASSERT_TRUE(v4);
  EXPECT_TRUE(v4->is_ip && v4->loopback);
  EXPECT_EQ(v4->text(), "127.0.0.1:7700");
  const auto v6 = parse_endpoint("[::1]:0");
  ASSERT_TRUE(v6);
  EXPECT_TRUE(v6->is_ip && v6->loopback);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->text(), "[::1]:0");
  const auto name = parse_endpoint("Peer-1.example:65535");
  ASSERT_TRUE(name);
  EXPECT_FALSE(name->is_ip || name->loopback);
  EXPECT_EQ(name->text(), "peer-1.example:65535");
  EXPECT_FALSE(parse_endpoint("0.0.0.0:1")->loopback);
  EXPECT_FALSE(parse_endpoint("[::]:1")->loopback);
  EXPECT_TRUE(parse_endpoint("localhost:1")->loopback);
}

TEST(Endpoint, RefusesWithTheCause) {
  for (const char* text :
       {"", "7700", ":7700", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x", "::1:80",
        "[::1]", "[127.0.0.1]:80", "[peer]:80", "300.1.1.1:80", "1.2.3:80", "a b:80", "*:80", "http://a:80"}) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_NE(endpoint.error().message.find("ADDR:PORT"), std::string::npos);
  }
}

TEST(ResolveEntry, ReadsHostPortAddress) {
  const auto plain = parse_resolve_entry("Docs.Example:80:127.0.0.2");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "docs.example");
  EXPECT_EQ(plain->port, 80);
  EXPECT_EQ(plain->address, "127.0.0.2");
  const auto all = parse_resolve_entry("*:8080:[::1]");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->host, "*");
  EXPECT_EQ(all->address, "::1");
}

TEST(ResolveEntry, RefusesWithTheForm) {
  for (const char* text : {"", "a", "a:80", "a:80:", "a:0:127.0.0.1", "a:x:127.0.0.1", ":80:127.0.0.1", "a:80:::1",
                           "a:80:[127.0.0.1]", "a:80:name", "a:80:127.0.0.1:90", "a b:80:127.0.0.1"}) {
    const auto entry = parse_resolve_entry(text);
    ASSERT_FALSE(entry) << text;
    EXPECT_NE(entry.error().message.find("HOST:PORT:ADDR"), std::string::npos);
  }
}

}  // namespace
}  // namespace orbweaver
