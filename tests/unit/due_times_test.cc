// When something is due for which peer: against a plain table.
#include "node/replication/due_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using test::below;
using test::peer_id;

Time at(int seconds) { return Time{} + std::chrono::seconds{seconds}; }

TEST(DueTimes, ALaterWordReplacesTheEarlier) {
  DueTimes times;
  EXPECT_FALSE(times.first());
  times.set(peer_id(1), at(5));
  times.set(peer_id(2), at(7));
  EXPECT_EQ(times.first(), at(5));
  EXPECT_TRUE(times.due(at(4)).empty());
  EXPECT_EQ(times.due(at(5)), std::set<ring::PeerId>{peer_id(1)});
  times.set(peer_id(1), at(9));
  EXPECT_EQ(times.first(), at(7));
  times.set(peer_id(2), std::nullopt);
  EXPECT_EQ(times.due(at(100)), std::set<ring::PeerId>{peer_id(1)});
  times.clear();
  EXPECT_FALSE(times.first());
  EXPECT_TRUE(times.due(at(100)).empty());
}

TEST(DueTimes, AsATableWouldHaveIt) {
  std::mt19937_64 random(1);
  DueTimes times;
  std::map<ring::PeerId, Time> table;
  for (int step = 0; step < 5'000; ++step) {
    const ring::PeerId peer = peer_id(below(random, 8));
    const Time time = at(static_cast<int>(below(random, 20)));
    if (below(random, 4) == 0) {
      times.set(peer, std::nullopt);
      table.erase(peer);
    } else {
      times.set(peer, time);
      table[peer] = time;
    }
    const Time now = at(static_cast<int>(below(random, 20)));
    std::set<ring::PeerId> due;
    std::optional<Time> first;
    for (const auto& [of, when] : table) {
      if (when <= now) due.insert(of);
      first = std::min(first.value_or(when), when);
    }
    ASSERT_EQ(times.due(now), due);
    ASSERT_EQ(times.first(), first);
  }
}

}  // namespace
}  // namespace orbweaver
