// The texts that a peer has seen recently, for all its workers: it finds which of them a new one repeats. In memory
// only: a restarted peer starts empty, and `orbweaver corpus` compares everything (docs/how-to/corpus.md). Thread rule:
// any thread; one lock, locked for a few microseconds.
#pragma once

#include <mutex>
#include <optional>
#include <string_view>

#include "node/text/repeats.h"

namespace orbweaver {

class SharedRepeats {
 public:
  explicit SharedRepeats(std::size_t max_texts) : repeats_(max_texts) {}

  std::optional<Repeat> add(std::string_view name, const ring::Md5& digest, const TextPrint& print) {
    const std::lock_guard lock(mutex_);
    return repeats_.add(name, digest, print);
  }

 private:
  std::mutex mutex_;
  TextRepeats repeats_;
};

}  // namespace orbweaver
