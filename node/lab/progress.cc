#include "node/lab/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace orbweaver {

namespace {

constexpr std::uint64_t look_every = 256;  // items between two readings of the clock
constexpr int bar_width = 30;              // characters
constexpr auto redraw = std::chrono::milliseconds(100);

}  // namespace

Progress::Progress(std::string what, std::uint64_t total)
    : what_(std::move(what)), total_(total), terminal_(::isatty(2) == 1) {}

Progress::~Progress() {
  if (drawn_) std::fprintf(stderr, "\r\033[K");
}

void Progress::next(std::string what, std::uint64_t total) {
  what_ = std::move(what);
  total_ = total;
  look_at_ = 0;
  at(0);
}

void Progress::at(std::uint64_t done) {
  if (!terminal_ || done < look_at_) return;
  look_at_ = done + (total_ > look_every ? look_every : 1);
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && done != total_ && now - drawn_at_ < redraw) return;
  drawn_at_ = now;
  draw(done);
}

void Progress::draw(std::uint64_t done) {
  drawn_ = true;
  if (total_ == 0) {
    std::fprintf(stderr, "\r\033[K%s: %llu", what_.c_str(), static_cast<unsigned long long>(done));
    return;
  }
  const double part = static_cast<double>(done < total_ ? done : total_) / static_cast<double>(total_);
  const int full = static_cast<int>(part * bar_width);
  std::string bar(static_cast<std::size_t>(full), '#');
  bar.append(static_cast<std::size_t>(bar_width - full), '.');
  std::fprintf(stderr, "\r\033[K%s [%s] %3.0f %%", what_.c_str(), bar.c_str(), 100 * part);
}

}  // namespace orbweaver
