// The Bloom filter: never a false negative, and as many false positives as its formula predicts.
#include "storage/bloom_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "ring/md5.h"

namespace orbweaver::storage {
namespace {

BloomFilter::Digest digest(std::uint64_t number) { return ring::md5("bloom " + std::to_string(number)); }

// The tolerance for a count of expectation `mean`: five standard deviations of a Poisson count, plus one.
double spread(double mean) { return 5 * std::sqrt(mean) + 1; }

TEST(BloomFilter, Background_TenHashesAndTwentyBitsAUrlGive889ePerMillion) {
  EXPECT_NEAR(BloomFilter::rate_of({20'000'000, 10}, 1'000'000), 8.89e-5, 0.005e-5);
  EXPECT_NEAR(BloomFilter::rate_of({200, 10}, 10), 8.89e-5, 0.005e-5);
}

TEST(BloomFilter, Bloom1970_ThePlanKeepsTheRateWithTheLeastBits) {
  for (const double rate : {0.5, 0.01, 1e-3, 1e-6, 1e-9})
    for (const std::uint64_t entries : {100ull, 1000ull, 10'000'000ull}) {
      const BloomFilter::Plan plan = BloomFilter::plan(entries, rate);
      // k is a whole number, so the rate differs a little.
      EXPECT_NEAR(BloomFilter::rate_of(plan, entries) / rate, 1, 0.12) << rate << " " << entries;
      EXPECT_GE(plan.hashes, 1u);
    }
  // One in a million takes 28.76 bits per URL and 20 hashes.
  EXPECT_EQ(BloomFilter::plan(1'000'000, 1e-6).bits, 28'755'176u);
  EXPECT_EQ(BloomFilter::plan(1'000'000, 1e-6).hashes, 20u);
  EXPECT_EQ((BloomFilter::Plan{65, 1}.bytes()), 16u);
}

TEST(BloomFilter, WhatWasAddedIsNeverDenied) {
  for (const BloomFilter::Plan plan : {BloomFilter::Plan{1, 1}, {2, 7}, {63, 3}, {64, 3}, {65, 20}, {4096, 10}}) {
    BloomFilter filter(plan);
    for (std::uint64_t i = 0; i < 500; ++i) {
      filter.add(digest(i));
      for (std::uint64_t j = 0; j <= i; j += 7) ASSERT_TRUE(filter.holds(digest(j))) << plan.bits << " " << i;
      ASSERT_FALSE(filter.add(digest(i)));
    }
    EXPECT_LE(filter.bits_set(), plan.bits);
  }
}

TEST(BloomFilter, AnEmptyOneHoldsNothing) {
  const BloomFilter filter({1000, 4});
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_FALSE(filter.holds(digest(i)));
  EXPECT_EQ(filter.rate(), 0);
}

TEST(BloomFilter, FalsePositivesAreAsManyAsTheFormulaSays) {
  constexpr std::uint64_t entries = 20'000, probes = 400'000;
  for (const double rate : {0.1, 0.01, 0.001}) {
    BloomFilter filter(BloomFilter::plan(entries, rate));
    for (std::uint64_t i = 0; i < entries; ++i) filter.add(digest(i));
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < probes; ++i) found += filter.holds(digest(entries + i));
    const double predicted = BloomFilter::rate_of(filter.plan(), entries) * static_cast<double>(probes);
    EXPECT_NEAR(static_cast<double>(found), predicted, spread(predicted)) << rate;
    // The estimate from the bits that are set is the same number.
    EXPECT_NEAR(filter.rate() * static_cast<double>(probes), predicted, 0.05 * predicted) << rate;
  }
}

// A case in which plain double hashing gives half as many false positives again: progressions that overlap.
TEST(BloomFilter, DillingerManolios2004_ASmallFilterWithManyHashesKeepsItsRateToo) {
  constexpr std::uint64_t entries = 200, filters = 20, probes = 100'000;
  double predicted = 0, found = 0;
  for (std::uint64_t turn = 0; turn < filters; ++turn) {
    BloomFilter filter(BloomFilter::plan(entries, 1e-4));
    for (std::uint64_t i = 0; i < entries; ++i) filter.add(digest(turn * 10'000'000 + i));
    for (std::uint64_t i = 0; i < probes; ++i) found += filter.holds(digest(turn * 10'000'000 + entries + i));
    predicted += filter.rate() * static_cast<double>(probes);
  }
  EXPECT_NEAR(found, predicted, spread(predicted));
}

TEST(BloomFilter, TheOrderOfAdditionsDoesNotMatter) {
  BloomFilter there({5000, 5}), back({5000, 5});
  for (std::uint64_t i = 0; i < 300; ++i) {
    there.add(digest(i));
    back.add(digest(299 - i));
  }
  EXPECT_EQ(there.bits_set(), back.bits_set());
  for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(there.holds(digest(i)), back.holds(digest(i)));
}

}  // namespace
}  // namespace orbweaver::storage
