// The events of a run, one per line. Keeps a digest over all of them (equal digests mean equal runs), the last lines
// for people, and the whole text when asked for. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "node/base.h"
#include "tests/sim/random.h"

namespace orbweaver::sim {

class Trace {
 public:
  explicit Trace(bool keep_all = false) : keep_all_(keep_all) {}

  // `since_start` is simulated time.
  void add(Duration since_start, std::string line) {
    line.insert(0, std::to_string(since_start.count()) + " ");
    digest_ = hash_of(digest_, line);
    ++lines_;
    if (keep_all_) all_ += line + "\n";
    last_.push_back(std::move(line));
    if (last_.size() > max_last) last_.pop_front();
  }

  // Data that belongs to the digest and is not for people: a message's bytes, a store's content.
  void mix_in(std::string_view bytes) { digest_ = hash_of(digest_, bytes); }

  std::uint64_t digest() const { return digest_; }
  std::uint64_t lines() const { return lines_; }
  const std::deque<std::string>& last() const { return last_; }
  const std::string& all() const { return all_; }

 private:
  static constexpr std::size_t max_last = 60;
  bool keep_all_;
  std::uint64_t digest_ = 0;
  std::uint64_t lines_ = 0;
  std::deque<std::string> last_;
  std::string all_;
};

}  // namespace orbweaver::sim
