// Replays of link streams: MIN, STATIC and INFINITE against slow obvious twins; no policy is better than MIN; the knee;
// the whole experiment on a small trace, also with bad input.
#include "node/lab/cache_replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>

#include "node/frontier/link_cache.h"
#include "node/lab/cache_lab.h"
#include "node/lab/eviction.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

UrlStream skewed_stream(std::uint64_t seed, std::size_t length, std::uint32_t urls) {
  std::mt19937_64 random(seed);
  UrlStream stream;
  for (std::size_t i = 0; i < length; ++i)
    stream.push_back(static_cast<std::uint32_t>(std::min({random() % urls, random() % urls, random() % urls})));
  return stream;
}

// To evict, searches the rest of the stream for the next use of each cached URL.
std::uint64_t slow_min(const UrlStream& stream, std::size_t size) {
  std::set<std::uint32_t> held;
  std::uint64_t misses = 0;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (held.contains(stream[i])) continue;
    ++misses;
    if (held.size() == size) {
      std::size_t farthest = 0;
      std::uint32_t victim = 0;
      for (const std::uint32_t url : held) {
        const auto next = std::find(stream.begin() + static_cast<std::ptrdiff_t>(i), stream.end(), url);
        const auto place = static_cast<std::size_t>(next - stream.begin());
        if (place >= farthest) {
          farthest = place;
          victim = url;
        }
      }
      held.erase(victim);
    }
    held.insert(stream[i]);
  }
  return misses;
}

std::vector<ring::Md5> digests_of(std::uint32_t urls) {
  std::vector<ring::Md5> digests;
  for (std::uint32_t i = 0; i < urls; ++i) digests.push_back(ring::md5(std::to_string(i)));
  return digests;
}

TEST(CacheReplay, MinAsASlowOneThatLooksAhead) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::uint32_t urls = 5 + static_cast<std::uint32_t>(seed) * 3;
    const UrlStream stream = skewed_stream(seed, 400, urls);
    const auto next = next_places(stream, urls);
    for (const std::uint32_t size : {1u, 2u, 3u, 8u, 30u, 200u})
      ASSERT_EQ(misses_of_min(stream, next, urls, size), slow_min(stream, size)) << seed << ' ' << size;
    EXPECT_EQ(misses_of_min(stream, next, urls, 0), stream.size());
  }
}

TEST(CacheReplay, MinSweepsItsHeapAndStaysRight) {
  const std::uint32_t urls = 40;
  const UrlStream stream = skewed_stream(3, 20'000, urls);
  EXPECT_EQ(misses_of_min(stream, next_places(stream, urls), urls, 4), slow_min(stream, 4));
}

TEST(CacheReplay, NoPolicyIsBetterThanMinAndNoneMissesLessThanInfinite) {
  const std::uint32_t urls = 500;
  const UrlStream stream = skewed_stream(9, 20'000, urls);
  const auto next = next_places(stream, urls);
  const auto digests = digests_of(urls);
  std::uint64_t before = stream.size();
  for (const std::uint32_t size : {1u, 4u, 16u, 64u, 256u, 512u}) {
    const std::uint64_t of_min = misses_of_min(stream, next, urls, size);
    LinkCache lru(size);
    for (const std::uint64_t misses :
         {misses_of(lru, stream, digests), misses_of(*make_clock_cache(size), stream, digests),
          misses_of(*make_random_cache(size, 1), stream, digests)}) {
      EXPECT_GE(misses, of_min);
      if (size >= urls) {
        EXPECT_EQ(misses, misses_of_infinite(stream, urls));
      }
    }
    EXPECT_LE(of_min, before) << "more room never misses more";
    before = of_min;
    EXPECT_GE(of_min, misses_of_infinite(stream, urls));
  }
}

TEST(CacheReplay, InfiniteMissesEachUrlOnce) {
  const UrlStream stream = skewed_stream(2, 1000, 90);
  EXPECT_EQ(misses_of_infinite(stream, 90), std::set<std::uint32_t>(stream.begin(), stream.end()).size());
}

TEST(CacheReplay, StaticHoldsTheMostFrequentOfWhatItKnew) {
  const UrlStream stream = skewed_stream(4, 3000, 60);
  const std::vector<std::uint32_t> sizes = {1, 2, 7, 30, 1000};
  for (const std::size_t known : {std::size_t{300}, stream.size()}) {
    const auto misses = misses_of_static(stream, 60, known, sizes);
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      std::map<std::uint32_t, std::pair<int, int>> counts;  // count, and minus the first place: the larger pair wins
      for (std::size_t i = 0; i < known; ++i) {
        auto [at, fresh] = counts.try_emplace(stream[i], 0, -static_cast<int>(i));
        ++at->second.first;
      }
      std::set<std::uint32_t> held;
      while (held.size() < sizes[s] && !counts.empty()) {
        const auto most = std::max_element(counts.begin(), counts.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        held.insert(most->first);
        counts.erase(most);
      }
      const auto slow = std::count_if(stream.begin(), stream.end(), [&](auto url) { return !held.contains(url); });
      EXPECT_EQ(misses[s], static_cast<std::uint64_t>(slow)) << sizes[s] << ' ' << known;
    }
  }
}

TEST(CacheReplay, TheKneeIsThePointFarthestAboveTheLine) {
  EXPECT_EQ(knee_of({{0, 0}, {1, 10}, {2, 70}, {3, 80}, {4, 85}}), 2u);
  EXPECT_EQ(knee_of({{0, 0}, {1, 25}, {2, 50}}), 2u) << "a straight line has none";
  EXPECT_EQ(knee_of({{0, 5}, {1, 5}, {2, 5}}), 2u);
  EXPECT_EQ(knee_of({{0, 1}}), 0u);
}

// --- the experiment

std::string write_trace(const test::TempDir& dir, const std::string& name, std::size_t pages) {
  storage::LinkTraceConfig config;
  config.directory = dir.file(name);
  config.name_prefix = "t";
  config.facts = {{"peer", "01"}};
  auto writer = storage::LinkTraceWriter::open(config);
  EXPECT_TRUE(writer);
  std::mt19937_64 random(6);
  for (std::size_t i = 0; i < pages; ++i) {
    storage::TracePage page;
    page.url = "http://h" + std::to_string(i % 3) + ".example/" + std::to_string(i);
    page.worker = static_cast<std::uint16_t>(i % 2);
    for (int j = 0; j < 10; ++j)
      page.links.push_back({"http://h" + std::to_string(random() % 3) + ".example/" + std::to_string(random() % pages),
                            static_cast<std::uint8_t>(random() % 4)});
    EXPECT_TRUE(writer->add(page));
  }
  EXPECT_TRUE(writer->close());
  return config.directory;
}

TEST(CacheLab, BothStreamsAreReplayedAndTheLastSizeHoldsAll) {
  const test::TempDir dir;
  CacheLabOptions options;
  options.traces = {write_trace(dir, "a", 200)};
  options.compared = {write_trace(dir, "b", 100)};
  const auto report = run_cache_lab(options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->facts["links"], 2000);
  ASSERT_EQ(report->tables.size(), 6u);  // misses and ratios of two streams, workers, the other crawl
  for (const std::size_t table : {0u, 2u}) {
    const auto& row = report->tables[table].rows.back();
    for (std::size_t column = 3; column < 7; ++column)  // MIN to RANDOM; STATIC starts with its URLs loaded
      EXPECT_LE(std::get<double>(row[2]), std::get<double>(row[column]) + 1e-9);
    EXPECT_DOUBLE_EQ(std::get<double>(row[2]), std::get<double>(row[4])) << "LRU with room for all";
  }
  EXPECT_LT(report->tables[0].rows.size(), 15u) << "no more sizes than URLs make a difference";
}

TEST(CacheLab, BadInputIsToldByName) {
  const test::TempDir dir;
  const auto reported = [](const CacheLabOptions& options) {
    const auto report = run_cache_lab(options);
    return report ? std::string() : report.error().message;
  };
  CacheLabOptions options;
  options.traces = {write_trace(dir, "a", 20)};
  options.sizes = {4, 0};
  EXPECT_NE(reported(options).find("--sizes holds 0"), std::string::npos);
  options.sizes = {4'000'000'000u};
  options.limits.memory_bytes = 1u << 30;
  EXPECT_NE(reported(options).find("4000000000 entries takes"), std::string::npos) << reported(options);
  options.sizes = {};
  options.limits.memory_bytes = 100;
  EXPECT_NE(reported(options).find("of memory; --links reads fewer"), std::string::npos);
  options.limits = {};
  options.workers = {0};
  EXPECT_NE(reported(options).find("--workers has 0"), std::string::npos);
  options.workers = {};
  options.traces = {write_trace(dir, "empty", 0)};
  EXPECT_NE(reported(options).find("no link trace"), std::string::npos) << "nothing was written";
  storage::LinkTraceConfig config;
  std::ofstream(dir.file("foreign.links")) << "not a trace";
  options.traces = {dir.file("foreign.links")};
  EXPECT_NE(reported(options).find("foreign.links is no link trace"), std::string::npos);
  const auto report = run_cache_lab(options);
  EXPECT_EQ(report.error().code, ErrorCode::invalid_input);
}

}  // namespace
}  // namespace orbweaver
