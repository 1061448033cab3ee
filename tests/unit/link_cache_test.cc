// The link cache against a slow obvious twin: a list in order of use.
#include "node/crawl/link_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <string>

namespace orbweaver {
namespace {

ring::Md5 url(std::size_t number) { return ring::md5("url " + std::to_string(number)); }

class SlowCache {
 public:
  explicit SlowCache(std::size_t capacity) : capacity_(capacity) {}
  bool hit(std::size_t number, std::uint16_t depth) {
    const auto at = find(number);
    if (at == uses_.end() || at->second > depth) return false;
    uses_.splice(uses_.begin(), uses_, at);
    return true;
  }
  void insert(std::size_t number, std::uint16_t depth) {
    const auto at = find(number);
    if (at != uses_.end()) {
      depth = std::min(depth, at->second);
      uses_.erase(at);
    }
    uses_.emplace_front(number, depth);
    if (uses_.size() > capacity_) uses_.pop_back();
  }
  void clear() { uses_.clear(); }
  std::size_t size() const { return uses_.size(); }

 private:
  using Uses = std::list<std::pair<std::size_t, std::uint16_t>>;  // the most recent first
  Uses::iterator find(std::size_t number) {
    return std::find_if(uses_.begin(), uses_.end(), [&](const auto& use) { return use.first == number; });
  }
  std::size_t capacity_;
  Uses uses_;
};

TEST(LinkCache, LinkCacheH_AsASlowOneOverRandomStreams) {
  for (const std::uint32_t capacity : {0u, 1u, 2u, 3u, 7u, 64u, 300u}) {
    SCOPED_TRACE("capacity " + std::to_string(capacity));
    std::mt19937_64 random(capacity);
    LinkCache cache(capacity);
    SlowCache slow(capacity);
    std::uint64_t hits = 0, misses = 0;
    for (int step = 0; step < 20'000; ++step) {
      // Few links are most of a web's links: small numbers come up more often.
      const std::size_t number = std::min(random() % (2 * capacity + 5), random() % (2 * capacity + 5));
      const auto depth = static_cast<std::uint16_t>(random() % 4);
      const bool known = slow.hit(number, depth);
      ASSERT_EQ(cache.hit(url(number), depth), known) << "step " << step;
      ++(known ? hits : misses);
      if (!known && random() % 8 != 0) {  // not every miss is admitted: some are out of scope
        cache.insert(url(number), depth);
        slow.insert(number, depth);
      } else if (random() % 8 == 0) {  // and some are put in again
        cache.insert(url(number), depth);
        slow.insert(number, depth);
      }
      if (random() % 3'000 == 0) {
        cache.clear();
        slow.clear();
      }
      ASSERT_EQ(cache.size(), slow.size());
      ASSERT_LE(cache.size(), capacity);
    }
    EXPECT_EQ(cache.hits(), hits);
    EXPECT_EQ(cache.misses(), misses);
    EXPECT_EQ(hits > 0, capacity > 0);
  }
}

// Runs of probes that collide and wrap around the end of the table: the four bytes that place an entry are few.
TEST(LinkCache, LinkCacheH_CollidingUrlsAreKeptApart) {
  std::mt19937_64 random(1);
  LinkCache cache(16);
  SlowCache slow(16);
  const auto colliding = [](std::size_t number) {
    ring::Md5 digest{};
    digest[0] = static_cast<std::uint8_t>(number);
    for (std::size_t i = 8; i < 12; ++i) digest[i] = number % 3 == 0 ? 0x00 : 0xff;  // first and last place
    return digest;
  };
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t number = random() % 30;
    ASSERT_EQ(cache.hit(colliding(number), 0), slow.hit(number, 0)) << "step " << step;
    cache.insert(colliding(number), 0);
    slow.insert(number, 0);
  }
}

TEST(LinkCache, LinkCacheH_AGreaterDepthThanNowIsAMiss) {
  LinkCache cache(4);
  cache.insert(url(1), 5);
  EXPECT_TRUE(cache.hit(url(1), 5));
  EXPECT_TRUE(cache.hit(url(1), 6)) << "a longer way is no news";
  EXPECT_FALSE(cache.hit(url(1), 4)) << "the owner must hear of the shorter way";
  cache.insert(url(1), 4);
  EXPECT_TRUE(cache.hit(url(1), 4));
  cache.insert(url(1), 9);
  EXPECT_TRUE(cache.hit(url(1), 4)) << "a longer way put in does not hide the shorter one";
  EXPECT_EQ(cache.size(), 1u);
}

TEST(LinkCache, LinkCacheH_CapacityZeroMissesAlwaysAndOneHoldsOne) {
  LinkCache none(0);
  none.insert(url(1), 0);
  EXPECT_FALSE(none.hit(url(1), 0));
  EXPECT_EQ(none.size(), 0u);
  none.clear();
  LinkCache one(1);
  EXPECT_FALSE(one.hit(url(1), 0));
  one.insert(url(1), 0);
  EXPECT_TRUE(one.hit(url(1), 0));
  one.insert(url(2), 0);
  EXPECT_FALSE(one.hit(url(1), 0));
  EXPECT_TRUE(one.hit(url(2), 0));
  EXPECT_EQ(one.size(), 1u);
}

// The settings' largest capacity, 2^24, and half of it that is not a power of two: no arithmetic overflows.
TEST(LinkCache, Contract5_ALargeCapacityWorks) {
  LinkCache cache(10'000'019);
  for (std::size_t i = 0; i < 1'000; ++i) cache.insert(url(i), 1);
  for (std::size_t i = 0; i < 1'000; ++i) ASSERT_TRUE(cache.hit(url(i), 1));
  EXPECT_EQ(cache.size(), 1'000u);
}

TEST(LinkCache, Contract5_ALongStreamNeverHoldsMoreThanItsCapacity) {
  LinkCache cache(1'000);
  for (std::size_t i = 0; i < 100'000; ++i) cache.insert(url(i), 0);
  EXPECT_EQ(cache.size(), 1'000u);
  EXPECT_FALSE(cache.hit(url(98'999), 0));
  for (std::size_t i = 99'000; i < 100'000; ++i) ASSERT_TRUE(cache.hit(url(i), 0)) << i;
}

}  // namespace
}  // namespace orbweaver
