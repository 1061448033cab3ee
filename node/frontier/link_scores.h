// Scores by links, worked out while the crawl goes (order = best; docs/how-to/orders.md): for each URL that links were
// found to, what this peer's pages gave it. Two uses:
//
//   opic     cash, after Abiteboul, Preda, Cobena: "Adaptive On-Line Page Importance Computation" (WWW 2003): a page
//            that is fetched gives its cash to the pages that it links, in equal parts. As an order of crawling: Baeza-
//            Yates, Castillo, Marin, Rodriguez: "Crawling a Country" (WWW 2005).
//   inlinks  links found so far (Cho, Garcia-Molina, Page: "Efficient crawling through URL ordering", WWW 1998).
//
// Bounded: a fixed table of `entries` places, 16 bytes each, made at construction. Sets of four; in a full set the one
// with the least makes room and what it had is lost. So a URL may have been given more than is told of it, never less,
// but for two URLs whose digests agree in 64 bits. In memory only: after a restart what was told before holds, and new
// links count from 0. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ring/md5.h"

namespace orbweaver {

// Amounts as scores: four steps to each doubling, so that a score changes rarely and 64 bits fit in 256 scores.
// Monotone; 0 only for 0.
std::uint16_t score_of_amount(std::uint64_t amount);
// The middle of the amounts that have the score; 0 for 0. Scores above those of 64 bits: as the last.
std::uint64_t amount_of_score(std::uint16_t score);

// What a seed begins with: enough that ten generations of 50 links each leave one unit.
inline constexpr std::uint64_t seed_cash = std::uint64_t{1} << 56;

class LinkScores {
 public:
  // Rounded up to a power of two of at least 4; 0: remembers nothing, and everything is told.
  explicit LinkScores(std::uint32_t entries);
  static std::uint64_t bytes(std::uint32_t entries);  // that one takes

  // Adds what a page gives to the URL. The score when it is more than the last that was told of it.
  std::optional<std::uint16_t> add(const ring::Md5& url, std::uint64_t amount);
  // Makes what it was given at least this much. The score as with add().
  std::optional<std::uint16_t> at_least(const ring::Md5& url, std::uint64_t amount);
  // A score that was worked out elsewhere (topic): told when it is more than the last one.
  std::optional<std::uint16_t> raise(const ring::Md5& url, std::uint16_t score);
  std::uint64_t evictions() const { return evictions_; }

 private:
  struct Entry {
    std::uint64_t tag = 0;  // of the URL's digest; 0: free
    std::uint64_t amount = 0;
  };
  Entry* entry_of(const ring::Md5& url, bool& is_new);
  static std::optional<std::uint16_t> change(Entry& entry, bool is_new, std::uint64_t amount);

  std::vector<Entry> entries_;
  std::uint64_t evictions_ = 0;
};

}  // namespace orbweaver
