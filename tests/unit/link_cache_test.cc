// The link cache, and the laboratory's caches with other policies, against a slow obvious twin: entries in a list.
#include "node/frontier/link_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "node/lab/eviction.h"

namespace orbweaver {
namespace {

ring::Md5 url(std::size_t number) { return ring::md5("url " + std::to_string(number)); }

enum class Policy { lru, clock, random };

// The twin of all policies: entries in a list, searched one by one.
class SlowCache {
 public:
  SlowCache(Policy policy, std::size_t capacity, std::uint64_t seed = 0)
      : policy_(policy), capacity_(capacity), state_(seed) {}
  bool hit(std::size_t number, std::uint16_t depth) {
    const auto at = find(number);
    if (at == places_.end() || at->depth > depth) return false;
    use(*at);
    return true;
  }
  void insert(std::size_t number, std::uint16_t depth) {
    if (capacity_ == 0) return;
    auto at = find(number);
    if (at != places_.end()) {
      at->depth = std::min(depth, at->depth);
      if (policy_ != Policy::random) use(*at);
      return;
    }
    if (places_.size() < capacity_) {
      at = places_.emplace(places_.end());
    } else {
      at = places_.begin() + static_cast<std::ptrdiff_t>(victim());
    }
    *at = {number, depth, 0, false};
    use(*at);
  }
  void clear() {
    places_.clear();
    hand_ = 0;
  }
  std::size_t size() const { return places_.size(); }

 private:
  struct Place {
    std::size_t number = 0;
    std::uint16_t depth = 0;
    std::uint64_t used = 0;
    bool marked = false;
  };
  std::vector<Place>::iterator find(std::size_t number) {
    return std::find_if(places_.begin(), places_.end(), [&](const Place& place) { return place.number == number; });
  }
  void use(Place& place) {
    place.used = ++uses_;
    place.marked = true;
  }
  std::size_t victim() {
    if (policy_ == Policy::lru) {
      const auto oldest = std::min_element(places_.begin(), places_.end(),
                                           [](const Place& a, const Place& b) { return a.used < b.used; });
      return static_cast<std::size_t>(oldest - places_.begin());
    }
    if (policy_ == Policy::random) {  // splitmix64, as Steele, Lea and Flood define it
      std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      return static_cast<std::size_t>(((z ^ (z >> 31)) >> 32) * capacity_ >> 32);
    }
    for (;; hand_ = (hand_ + 1) % capacity_) {
      if (places_[hand_].marked) {
        places_[hand_].marked = false;
        continue;
      }
      const std::size_t found = hand_;
      hand_ = (hand_ + 1) % capacity_;
      return found;
    }
  }
  Policy policy_;
  std::size_t capacity_;
  std::uint64_t state_;
  std::uint64_t uses_ = 0;
  std::size_t hand_ = 0;
  std::vector<Place> places_;
};

// The subject of a test: a policy, and how to make a cache with it.
struct Lru {
  static constexpr Policy policy = Policy::lru;
  static std::unique_ptr<LinkCache> make(std::uint32_t capacity, std::uint64_t) {
    return std::make_unique<LinkCache>(capacity);
  }
};
struct Clock {
  static constexpr Policy policy = Policy::clock;
  static std::unique_ptr<EvictingCache> make(std::uint32_t capacity, std::uint64_t) {
    return make_clock_cache(capacity);
  }
};
struct AtRandom {
  static constexpr Policy policy = Policy::random;
  static std::unique_ptr<EvictingCache> make(std::uint32_t capacity, std::uint64_t seed) {
    return make_random_cache(capacity, seed);
  }
};
struct Names {
  template <class Kind>
  static std::string GetName(int) {
    return Kind::policy == Policy::lru ? "lru" : Kind::policy == Policy::clock ? "clock" : "random";
  }
};

template <class Kind>
class LinkCachePolicies : public testing::Test {};
using Kinds = testing::Types<Lru, Clock, AtRandom>;
TYPED_TEST_SUITE(LinkCachePolicies, Kinds, Names);

TYPED_TEST(LinkCachePolicies, AsASlowOneOverRandomStreams) {
  for (const std::uint32_t capacity : {0u, 1u, 2u, 3u, 7u, 64u, 300u}) {
    SCOPED_TRACE("capacity " + std::to_string(capacity));
    std::mt19937_64 random(capacity);
    const auto made = TypeParam::make(capacity, capacity + 9);
    auto& cache = *made;
    SlowCache slow(TypeParam::policy, capacity, capacity + 9);
    std::uint64_t hits = 0, misses = 0;
    for (int step = 0; step < 20'000; ++step) {
      // Few links are most of a web's links: small numbers are more frequent.
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

// Probe sequences that collide and wrap around the end of the table: few values of the four bytes that place an entry.
TYPED_TEST(LinkCachePolicies, CollidingUrlsAreKeptApart) {
  std::mt19937_64 random(1);
  const auto made = TypeParam::make(16, 5);
  auto& cache = *made;
  SlowCache slow(TypeParam::policy, 16, 5);
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

TYPED_TEST(LinkCachePolicies, AGreaterDepthThanNowIsAMiss) {
  const auto made_cache = TypeParam::make(4, 1);
  auto& cache = *made_cache;
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

TYPED_TEST(LinkCachePolicies, CapacityZeroMissesAlwaysAndOneHoldsOne) {
  const auto made_none = TypeParam::make(0, 1);
  auto& none = *made_none;
  none.insert(url(1), 0);
  EXPECT_FALSE(none.hit(url(1), 0));
  EXPECT_EQ(none.size(), 0u);
  none.clear();
  const auto made_one = TypeParam::make(1, 1);
  auto& one = *made_one;
  EXPECT_FALSE(one.hit(url(1), 0));
  one.insert(url(1), 0);
  EXPECT_TRUE(one.hit(url(1), 0));
  one.insert(url(2), 0);
  EXPECT_FALSE(one.hit(url(1), 0));
  EXPECT_TRUE(one.hit(url(2), 0));
  EXPECT_EQ(one.size(), 1u);
}

// The settings' largest capacity, 2^24, and half of it that is not a power of two: no arithmetic overflows.
TYPED_TEST(LinkCachePolicies, Contract5_ALargeCapacityWorks) {
  const auto made_cache = TypeParam::make(10'000'019, 1);
  auto& cache = *made_cache;
  for (std::size_t i = 0; i < 1'000; ++i) cache.insert(url(i), 1);
  for (std::size_t i = 0; i < 1'000; ++i) ASSERT_TRUE(cache.hit(url(i), 1));
  EXPECT_EQ(cache.size(), 1'000u);
}

TYPED_TEST(LinkCachePolicies, Contract5_ALongStreamNeverHoldsMoreThanItsCapacity) {
  const auto made_cache = TypeParam::make(1'000, 1);
  auto& cache = *made_cache;
  for (std::size_t i = 0; i < 100'000; ++i) cache.insert(url(i), 0);
  EXPECT_EQ(cache.size(), 1'000u);
  if (TypeParam::policy == Policy::random) return;  // which entries are left is not known
  EXPECT_FALSE(cache.hit(url(98'999), 0));
  for (std::size_t i = 99'000; i < 100'000; ++i) ASSERT_TRUE(cache.hit(url(i), 0)) << i;
}

TEST(RandomLinkCache, TheSameSeedGivesTheSameMisses) {
  std::uint64_t misses[3] = {};
  for (std::size_t run = 0; run < 3; ++run) {
    const auto cache = make_random_cache(50, run < 2 ? 7 : 8);
    std::mt19937_64 random(1);
    for (int i = 0; i < 5'000; ++i)
      if (const ring::Md5 at = url(random() % 200); !cache->hit(at, 0)) cache->insert(at, 0);
    misses[run] = cache->misses();
  }
  EXPECT_EQ(misses[0], misses[1]);
  EXPECT_NE(misses[0], misses[2]);
}

}  // namespace
}  // namespace orbweaver
