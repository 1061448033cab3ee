// A line on standard error that shows how far a long experiment is: only on a terminal, redrawn at most ten times a
// second, removed at the end. Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace orbweaver {

class Progress {
 public:
  explicit Progress(std::string what, std::uint64_t total = 0);  // total 0: unknown
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void at(std::uint64_t done);  // cheap: may be called for every item
  void next(std::string what, std::uint64_t total = 0);

 private:
  void draw(std::uint64_t done);

  std::string what_;
  std::uint64_t total_ = 0;
  bool terminal_ = false;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point drawn_at_{};
  std::uint64_t look_at_ = 0;  // the clock is read when this many are done
};

}  // namespace orbweaver
