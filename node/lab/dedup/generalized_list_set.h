// The improved generalized list (Wu 2009): a trie of characters. A node is one letter; `head` leads to the list of
// letters that may follow, `tail` to the next letter that may be in its own place. URLs with a common beginning share
// its nodes. So a check costs the length of the URL times the letters tried at each place, whatever the number of URLs.
// A URL that is the beginning of another must not count as seen:
// a node says whether a URL ends there. In memory only. Thread rule: one thread.
#pragma once

#include <memory>
#include <vector>

#include "node/lab/dedup/counting_allocator.h"
#include "node/lab/dedup/url_set.h"

namespace orbweaver {

class GeneralizedListSet final : public UrlSet {
 public:
  // An empty URL is treated like any other.
  Result<bool> seen(std::string_view url) override {
    std::uint32_t at = root;
    for (const char letter : url) {
      std::uint32_t* link = &node(at).head;
      while (*link != none && node(*link).letter != letter) link = &node(*link).tail;
      if (*link == none) {
        if (size_ == none) return fail(ErrorCode::unsupported, "the generalized list has no number for another letter");
        const std::uint32_t fresh = make(letter);  // blocks do not move: `link` stays valid
        *link = fresh;
      }
      at = *link;
    }
    const bool before = node(at).ends;
    node(at).ends = true;
    return before;
  }
  std::uint64_t memory_bytes() const override { return bytes_; }
  std::uint64_t nodes() const { return size_; }

 private:
  struct Node {
    std::uint32_t head = none;
    std::uint32_t tail = none;
    char letter = 0;
    bool ends = false;  // a URL ends here
  };
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::uint32_t root = 0;
  static constexpr std::uint32_t block_nodes = 1u << 12;
  using Block = std::vector<Node, CountingAllocator<Node>>;

  Node& node(std::uint32_t at) { return blocks_[at / block_nodes][at % block_nodes]; }
  std::uint32_t make(char letter) {
    if (size_ % block_nodes == 0) {
      blocks_.emplace_back(CountingAllocator<Node>(&bytes_));
      blocks_.back().resize(block_nodes);
    }
    node(size_).letter = letter;
    return size_++;
  }

  std::uint64_t bytes_ = 0;
  std::uint32_t size_ = 0;
  std::vector<Block, CountingAllocator<Block>> blocks_{CountingAllocator<Block>(&bytes_)};
  const std::uint32_t first_ = make(0);  // the root, which is not a letter
};

}  // namespace orbweaver
