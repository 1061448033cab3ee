// Which partition a URL falls into, under each partition_by.
#include "node/crawl/partitioner.h"

#include <gtest/gtest.h>

#include <set>

#include "ring/hash_ring.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

CanonicalUrl url(const std::string& text) {
  auto parsed = CanonicalUrl::parse(text);
  EXPECT_TRUE(parsed) << text;
  return *parsed;
}

constexpr std::uint32_t partitions = 1024;

TEST(Partitioner, ByHostItIsTheHostsDigest) {
  Partitioner by(PartitionBy::host, partitions);
  for (const char* text : {"http://a.example.co.uk/x", "http://b.example.co.uk:8080/x?y", "http://192.0.2.1/"}) {
    const CanonicalUrl at = url(text);
    EXPECT_EQ(by.host_key(at), test::host_key(at.host_digest(), partitions));
    EXPECT_EQ(by.host_key(at.host(), 77), by.host_key(at));
    EXPECT_EQ(by.home(at.host()), by.partition(at));
  }
}

TEST(Partitioner, ByDomainHostsOfOneDomainFallTogether) {
  Partitioner by(PartitionBy::domain, partitions);
  const CanonicalUrl a = url("http://a.example.co.uk/x");
  EXPECT_EQ(by.partition(a), ring::partition_of(ring::md5("example.co.uk"), partitions));
  EXPECT_EQ(by.partition(url("https://b.c.example.co.uk/")), by.partition(a));
  EXPECT_NE(by.host_key(url("https://b.c.example.co.uk/")).host, by.host_key(a).host);
  EXPECT_NE(by.partition(url("http://a.other.co.uk/x")), by.partition(a)) << "co.uk is no one's domain";
  EXPECT_EQ(by.partition(url("http://192.0.2.1/")), ring::partition_of(ring::md5("192.0.2.1"), partitions));
  EXPECT_EQ(by.host_key("a.example.co.uk", 77), by.host_key(a));
  EXPECT_EQ(by.partition(a), ring::partition_of(ring::md5("example.co.uk"), partitions)) << "after other hosts";
}

TEST(Partitioner, ByUrlAHostFallsIntoMany) {
  Partitioner by(PartitionBy::url, partitions);
  std::set<ring::Partition> found;
  for (int i = 0; i < 100; ++i) {
    const CanonicalUrl at = url("http://a.example/" + std::to_string(i));
    EXPECT_EQ(by.partition(at), ring::partition_of(at.digest(), partitions));
    EXPECT_EQ(by.host_key(at).host, test::host_key(at.host_digest(), partitions).host);
    found.insert(by.partition(at));
  }
  EXPECT_GT(found.size(), 80u);
  EXPECT_EQ(by.host_key("a.example", 77).partition, 77) << "a host's wait is reported for a partition";
  EXPECT_EQ(by.home("a.example"), ring::partition_of(ring::md5("a.example"), partitions));
}

}  // namespace
}  // namespace orbweaver
