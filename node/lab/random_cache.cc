// RANDOM: any entry makes room, each with the same chance. The generator is splitmix64 from a given seed, so that a
// replay is the same every time.
#include <algorithm>

#include "node/lab/eviction.h"
#include "node/lab/scatter_table.h"

namespace orbweaver {

namespace {

class RandomCache final : public EvictingCache {
 public:
  RandomCache(std::uint32_t capacity, std::uint64_t seed) : table_(capacity), state_(seed) {}
  void insert(const ring::Md5& url, std::uint16_t depth) override {
    if (table_.capacity() == 0) return;
    if (const std::uint32_t place = table_.find(url); place != ScatterTable::none) {
      table_.at(place).depth = std::min(table_.at(place).depth, depth);
    } else if (table_.size() < table_.capacity()) {
      table_.add(url, depth);
    } else {
      // The high half of the product: uniform to within capacity / 2^32.
      table_.replace(static_cast<std::uint32_t>((draw() >> 32) * table_.capacity() >> 32), url, depth);
    }
  }
  void clear() override { table_.clear(); }
  std::uint32_t size() const override { return table_.size(); }

 private:
  bool touch(const ring::Md5& url, std::uint16_t depth) override {
    const std::uint32_t place = table_.find(url);
    return place != ScatterTable::none && table_.at(place).depth <= depth;
  }
  std::uint64_t draw() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  ScatterTable table_;
  std::uint64_t state_;
};

}  // namespace

std::unique_ptr<EvictingCache> make_random_cache(std::uint32_t capacity, std::uint64_t seed) {
  return std::make_unique<RandomCache>(capacity, seed);
}

}  // namespace orbweaver
