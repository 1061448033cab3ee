// CLOCK: a hit marks its entry; to make room the hand goes around, removes marks, and stops at the first without one.
#include <algorithm>

#include "node/lab/eviction.h"
#include "node/lab/scatter_table.h"

namespace orbweaver {

namespace {

class ClockCache final : public EvictingCache {
 public:
  explicit ClockCache(std::uint32_t capacity) : table_(capacity) {}
  void insert(const ring::Md5& url, std::uint16_t depth) override {
    if (table_.capacity() == 0) return;
    if (const std::uint32_t place = table_.find(url); place != ScatterTable::none) {
      table_.at(place).depth = std::min(table_.at(place).depth, depth);
      table_.at(place).marked = true;
      return;
    }
    if (table_.size() < table_.capacity()) {
      table_.at(table_.add(url, depth)).marked = true;
      return;
    }
    while (table_.at(hand_).marked) {
      table_.at(hand_).marked = false;
      advance();
    }
    table_.replace(hand_, url, depth);
    table_.at(hand_).marked = true;
    advance();
  }
  void clear() override {
    table_.clear();
    hand_ = 0;
  }
  std::uint32_t size() const override { return table_.size(); }

 private:
  bool touch(const ring::Md5& url, std::uint16_t depth) override {
    const std::uint32_t place = table_.find(url);
    if (place == ScatterTable::none || table_.at(place).depth > depth) return false;
    table_.at(place).marked = true;
    return true;
  }
  void advance() { hand_ = hand_ + 1 == table_.capacity() ? 0 : hand_ + 1; }

  ScatterTable table_;
  std::uint32_t hand_ = 0;
};

}  // namespace

std::unique_ptr<EvictingCache> make_clock_cache(std::uint32_t capacity) {
  return std::make_unique<ClockCache>(capacity);
}

}  // namespace orbweaver
