// The address guard against every edge of IANA's special-purpose registries.
#include "node/fetch/address_guard.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <random>
#include <string>
#include <vector>

namespace orbweaver {
namespace {

std::string words(const std::optional<AddressRefusal>& refusal) { return refusal ? refusal->words : std::string(); }

bool is_public(const std::string& text) {
  const std::optional<IpAddress> address = parse_ip(text);
  EXPECT_TRUE(address) << text;
  return address && AddressGuard::is_public(*address);
}

struct Edge {
  const char* before;  // the last public address below the range; null when its lower neighbour is special too
  const char* first;
  const char* last;
  const char* after;
};

void check_edges(const std::vector<Edge>& edges) {
  for (const Edge& edge : edges) {
    EXPECT_FALSE(is_public(edge.first)) << edge.first;
    EXPECT_FALSE(is_public(edge.last)) << edge.last;
    if (edge.before != nullptr) {
      EXPECT_TRUE(is_public(edge.before)) << edge.before;
    }
    if (edge.after != nullptr) {
      EXPECT_TRUE(is_public(edge.after)) << edge.after;
    }
  }
}

const std::vector<Edge> v4_edges = {
    {nullptr, "0.0.0.0", "0.255.255.255", "1.0.0.0"},
    {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
    {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
    {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
    {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
    {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
    {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
    {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
    {"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
    {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
    {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
    {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
    {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
    {"223.255.255.255", "224.0.0.0", "239.255.255.255", nullptr},
    {nullptr, "240.0.0.0", "255.255.255.255", nullptr},
};

TEST(AddressGuard, Rfc6890_Ipv4RangesAtTheirEdges) { check_edges(v4_edges); }

TEST(AddressGuard, Rfc6890_Ipv6RangesAtTheirEdges) {
  check_edges({
      {nullptr, "::", "::1", nullptr},
      {nullptr, "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", nullptr},
      {nullptr, "100::", "100::ffff:ffff:ffff:ffff", nullptr},
      {nullptr, "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
      {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
      {"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
      {nullptr, "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr},
      {nullptr, "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr},
      {nullptr, "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr},
      {nullptr, "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr},
      {nullptr, "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr},
  });
}

TEST(AddressGuard, Rfc4291_OnlyGlobalUnicastIsPublic) {
  EXPECT_TRUE(is_public("2000::1"));
  EXPECT_TRUE(is_public("2606:2800:220:1::1"));
  EXPECT_TRUE(is_public("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
  EXPECT_FALSE(is_public("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
  EXPECT_FALSE(is_public("4000::"));
  EXPECT_FALSE(is_public("::8.8.8.8"));  // IPv4-compatible, deprecated
}

// The three ways in which IPv6 carries an IPv4 address must give the same answer as the IPv4 address itself.
TEST(AddressGuard, Rfc4291Rfc6052Rfc3056_EmbeddedIpv4IsJudgedAsIpv4) {
  for (const Edge& edge : v4_edges) {
    for (const char* text : {edge.before, edge.first, edge.last, edge.after}) {
      if (text == nullptr) continue;
      in_addr four{};
      ASSERT_EQ(inet_pton(AF_INET, text, &four), 1);
      const std::uint32_t value = ntohl(four.s_addr);
      char sixtofour[32];
      std::snprintf(sixtofour, sizeof sixtofour, "2002:%x:%x::1", value >> 16, value & 0xffff);
      EXPECT_EQ(is_public(std::string("::ffff:") + text), is_public(text)) << text;
      EXPECT_EQ(is_public(std::string("64:ff9b::") + text), is_public(text)) << text;
      EXPECT_EQ(is_public(sixtofour), is_public(text)) << sixtofour;
    }
  }
  EXPECT_FALSE(is_public("64:ff9b::1:808:808"));  // outside the /96
}

// The slow obvious twin: an address is special when a bit-by-bit comparison with any row of the list matches.
TEST(AddressGuard, Ipv4AgreesWithABitByBitTwin) {
  const char* ranges[] = {"0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
                          "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
                          "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4"};
  std::vector<std::string> rows;
  for (const char* text : ranges) {
    const std::string range = text;
    in_addr four{};
    ASSERT_EQ(inet_pton(AF_INET, range.substr(0, range.find('/')).c_str(), &four), 1);
    std::string bits;
    for (int bit = 31; bit >= 0; --bit) bits += (ntohl(four.s_addr) >> bit & 1) != 0 ? '1' : '0';
    rows.push_back(bits.substr(0, std::stoul(range.substr(range.find('/') + 1))));
  }
  std::mt19937 random(20240611);
  int special = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto value = static_cast<std::uint32_t>(random());
    std::string bits;
    for (int bit = 31; bit >= 0; --bit) bits += (value >> bit & 1) != 0 ? '1' : '0';
    bool expected = true;
    for (const std::string& row : rows) expected = expected && bits.rfind(row, 0) != 0;
    special += expected ? 0 : 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(value);
    ASSERT_EQ(AddressGuard::is_public(reinterpret_cast<sockaddr*>(&address)), expected) << std::hex << value;
  }
  EXPECT_GT(special, 1000);
}

TEST(AddressGuard, RefusalSaysWhichOfTheThreeItIs) {
  auto guard = AddressGuard::create({"10.0.0.0/8"}, {"10.1.0.0/16", "93.184.216.0/24"});
  ASSERT_TRUE(guard);
  guard->refuse_public();
  const auto error = [&guard](const char* text) {
    const auto refusal = guard->refusal(*parse_ip(text));
    return refusal ? refusal->error : FetchError::none;
  };
  EXPECT_EQ(error("10.2.0.1"), FetchError::none);
  EXPECT_EQ(error("127.0.0.1"), FetchError::address_refused);
  EXPECT_EQ(error("10.1.0.1"), FetchError::address_denied);
  EXPECT_EQ(error("93.184.216.34"), FetchError::address_denied);
  EXPECT_EQ(error("64:ff9b::5db8:d822"), FetchError::address_denied);
  EXPECT_EQ(error("8.8.8.8"), FetchError::no_contact);
}

TEST(AddressGuard, RefusalNamesTheAddressAndTheRange) {
  const AddressGuard guard;
  EXPECT_EQ(words(guard.refusal(*parse_ip("127.0.0.1"))), "127.0.0.1 is in 127.0.0.0/8 (loopback)");
  EXPECT_EQ(words(guard.refusal(*parse_ip("::ffff:10.1.2.3"))), "10.1.2.3 is in 10.0.0.0/8 (private use)");
  EXPECT_EQ(words(guard.refusal(*parse_ip("64:ff9b::a01:203"))),
            "64:ff9b::a01:203 stands for 10.1.2.3 is in 10.0.0.0/8 (private use)");
  EXPECT_EQ(words(guard.refusal(*parse_ip("fe80::1"))), "fe80::1 is in fe80::/10 (link-local)");
}

TEST(AddressGuard, OtherFamiliesAreRefused) {
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  EXPECT_FALSE(AddressGuard::is_public(reinterpret_cast<sockaddr*>(&local)));
  EXPECT_FALSE(AddressGuard::is_public(static_cast<const sockaddr*>(nullptr)));
}

TEST(AddressGuard, AllowedRangesOpenOnlyThemselves) {
  const Result<AddressGuard> guard = AddressGuard::create({"127.0.0.0/8", "fd00:1::/32", "192.168.7.9"});
  ASSERT_TRUE(guard) << guard.error().message;
  for (const char* text :
       {"127.0.0.1", "127.255.255.255", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00:1::5", "192.168.7.9", "8.8.8.8"}) {
    EXPECT_FALSE(guard->refusal(*parse_ip(text))) << text;
  }
  for (const char* text : {"::1", "10.0.0.1", "fd00:2::5", "192.168.7.8", "192.168.7.10", "169.254.169.254"}) {
    EXPECT_TRUE(guard->refusal(*parse_ip(text))) << text;
  }
}

TEST(AddressGuard, WideRangesKeepToTheirFamily) {
  const Result<AddressGuard> v6 = AddressGuard::create({"::/0"});
  const Result<AddressGuard> v4 = AddressGuard::create({"0.0.0.0/0"});
  ASSERT_TRUE(v6 && v4);
  EXPECT_FALSE(v6->refusal(*parse_ip("fe80::1")));
  EXPECT_TRUE(v6->refusal(*parse_ip("127.0.0.1")));
  EXPECT_FALSE(v4->refusal(*parse_ip("127.0.0.1")));
  EXPECT_TRUE(v4->refusal(*parse_ip("fe80::1")));
}

TEST(AddressGuard, UnreadableRangesAreErrors) {
  for (const char* text : {"", "/", "10.0.0.0/33", "10.0.0.0/8x", "10.1.0.0/8", "host/8", "127.1"}) {
    EXPECT_FALSE(AddressGuard::create({"10.0.0.0/8", text})) << text;
  }
}

TEST(AddressGuard, WhereCloudsKeepTheirMachinesSecretsIsRefused) {
  for (const char* text : {"169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192", "168.63.129.16",
                           "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::1"})
    EXPECT_FALSE(is_public(text)) << text;
  EXPECT_TRUE(is_public("168.63.129.17"));
}

TEST(AddressGuard, Rfc4380_TeredoIsRefusedWhateverItWraps) {
  EXPECT_FALSE(is_public("2001:0:808:808:0:ffff:f7f7:f7f7"));
}

TEST(AddressGuard, DeniedRangesAreRefusedWhateverElseAllowsThem) {
  const Result<AddressGuard> guard =
      AddressGuard::create({"10.0.0.0/8"}, {"10.1.0.0/16", "93.184.216.0/24", "2001:db9:64::/96"});
  ASSERT_TRUE(guard);
  const auto refusal = [&guard](const char* text) { return words(guard->refusal(*parse_ip(text))); };
  EXPECT_EQ(refusal("10.0.0.1"), "");
  EXPECT_EQ(refusal("10.1.0.1"), "10.1.0.1 is in deny_addresses");
  EXPECT_EQ(refusal("93.184.216.34"), "93.184.216.34 is in deny_addresses");
  EXPECT_EQ(refusal("93.184.217.34"), "");
  // A local NAT64 prefix (RFC 6052), and a denied address under the well-known prefix and under 6to4.
  EXPECT_NE(refusal("2001:db9:64::a00:1"), "");
  EXPECT_NE(refusal("64:ff9b::5db8:d822").find("93.184.216.34, which is in deny_addresses"), std::string::npos);
  EXPECT_NE(refusal("2002:5db8:d822::1"), "");
  EXPECT_FALSE(AddressGuard::create({}, {"nonsense"}));
}

}  // namespace
}  // namespace orbweaver
