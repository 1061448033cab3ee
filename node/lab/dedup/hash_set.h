// Whole URLs in a hash set: O(1) per check and all the text in memory (the literature: 5 GB for 100 million URLs of 50
// characters, without the table itself). In memory only. Thread rule: one thread.
#pragma once

#include <unordered_set>

#include "node/lab/dedup/counting_allocator.h"
#include "node/lab/dedup/url_set.h"

namespace orbweaver {

class HashSet final : public UrlSet {
 public:
  Result<bool> seen(std::string_view url) override {
    if (set_.find(url) != set_.end()) return true;
    set_.emplace(url, CountingAllocator<char>(&bytes_));
    return false;
  }
  std::uint64_t memory_bytes() const override { return bytes_; }

 private:
  using Text = std::basic_string<char, std::char_traits<char>, CountingAllocator<char>>;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };
  std::uint64_t bytes_ = 0;
  std::unordered_set<Text, Hash, Equal, CountingAllocator<Text>> set_{16, Hash(), Equal(),
                                                                      CountingAllocator<Text>(&bytes_)};
};

}  // namespace orbweaver
