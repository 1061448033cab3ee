// How much memory the bodies under way may hold together, and who may take more. Pure; owned by the fetcher's thread.
//
// The oldest transfer may always grow, so something always ends and memory comes back: no deadlock. For that to stay
// within the limit, the others leave room for one longest body: they hold at most bytes_max - longest_body together.
#pragma once

#include <algorithm>
#include <cstddef>

namespace orbweaver {

class BodyBudget {
 public:
  explicit BodyBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // A body of up to `bytes` may come. Where longer than bytes_max, that one body is the bound.
  void expect_body(std::size_t bytes) { longest_body_ = std::max(longest_body_, bytes); }
  bool may_take(std::size_t bytes, bool oldest) const {
    return oldest || (bytes_max_ >= longest_body_ && used_ + bytes <= bytes_max_ - longest_body_);
  }
  void take(std::size_t bytes) {
    used_ += bytes;
    peak_ = std::max(peak_, used_);
  }
  void give_back(std::size_t bytes) { used_ -= bytes; }
  std::size_t used() const { return used_; }
  std::size_t peak() const { return peak_; }

 private:
  std::size_t bytes_max_;
  std::size_t longest_body_ = 0;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace orbweaver
