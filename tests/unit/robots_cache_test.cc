// RobotsCache: equal files are stored once, the least recently used leaves first, never more bytes than the share.
#include "node/crawl/robots_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "node/crawl/robots_reader.h"

namespace orbweaver {
namespace {

ParsedRobots file(int number, std::size_t bytes = 10'000) {
  std::string body = "User-agent: *\n";
  for (int i = 0; body.size() < bytes; ++i)
    body += "Disallow: /" + std::to_string(number) + "/" + std::to_string(i) + "\n";
  return parse_robots(body, "orbweaver");
}

TEST(RobotsCache, EqualFilesAreHeldOnce) {
  RobotsCache cache(1 << 20);
  const auto first = cache.put(file(1));
  const std::uint64_t bytes = cache.bytes();
  for (int i = 0; i < 600; ++i) EXPECT_EQ(cache.put(file(1)), first);
  EXPECT_EQ(cache.bytes(), bytes);
  EXPECT_EQ(cache.files(), 1u);
  EXPECT_EQ(cache.shared(), 600u);
  EXPECT_NE(cache.put(file(2)), first);
}

TEST(RobotsCache, TheLeastRecentlyUsedAreDropped) {
  RobotsCache one_file(1 << 20);
  one_file.put(file(1));
  RobotsCache cache(one_file.bytes() * 10 / 3);
  const auto one = cache.put(file(1));
  const auto two = cache.put(file(2));
  const auto three = cache.put(file(3));
  EXPECT_NE(cache.use(one), nullptr);
  const auto four = cache.put(file(4));
  const auto five = cache.put(file(5));
  EXPECT_EQ(cache.use(two), nullptr);
  EXPECT_NE(cache.use(one), nullptr);
  EXPECT_NE(cache.use(five), nullptr);
  EXPECT_LE(cache.bytes(), cache.max_bytes());
  EXPECT_EQ(cache.dropped() + cache.files(), 5u);
  // A dropped file that returns gets a new entry.
  const auto again = cache.put(file(2));
  EXPECT_NE(again, two);
  EXPECT_NE(cache.use(again), nullptr);
}

TEST(RobotsCache, TheBudgetHoldsForAnyNumberOfFiles) {
  RobotsCache cache(1 << 20);
  for (int i = 0; i < 300; ++i) {
    const auto put = cache.put(file(i, 20'000 + 100 * static_cast<std::size_t>(i)));
    EXPECT_NE(cache.use(put), nullptr);
    EXPECT_LE(cache.bytes(), cache.max_bytes());
  }
  EXPECT_GT(cache.dropped(), 200u);
}

TEST(RobotsCache, OneThatIsLargerThanTheShareIsKeptUntilTheNext) {
  RobotsCache cache(1000);
  const auto large = cache.put(file(1));
  EXPECT_NE(cache.use(large), nullptr);
  const auto next = cache.put(file(2));
  EXPECT_EQ(cache.use(large), nullptr);
  EXPECT_NE(cache.use(next), nullptr);
}

TEST(RobotsCache, TheFixedOnesStay) {
  RobotsCache cache(1000);
  for (int i = 0; i < 10; ++i) cache.put(file(i));
  EXPECT_TRUE(cache.use(cache.allow_all())->allowed("/x"));
  EXPECT_FALSE(cache.use(cache.disallow_all())->allowed("/x"));
}

// Rules in use outlive their entry.
TEST(RobotsCache, RulesInUseStayWhole) {
  RobotsCache cache(1000);
  const auto rules = cache.use(cache.put(file(1)));
  cache.put(file(2));
  EXPECT_FALSE(rules->allowed("/1/0"));
}

}  // namespace
}  // namespace orbweaver
