// Scores by links, computed during the crawl (order = best; docs/how-to/orders.md): for each URL that links were found
// to, what this peer's pages gave it. Two uses:
//
//   opic     cash, after Abiteboul, Preda, Cobena: "Adaptive On-Line Page Importance Computation" (WWW 2003): a page
//            that is fetched gives its cash to the pages that it links, in equal parts. As an order of crawling: Baeza-
//            Yates, Castillo, Marin, Rodriguez: "Crawling a Country" (WWW 2005).
//   inlinks  links found so far (Cho, Garcia-Molina, Page: "Efficient crawling through URL ordering", WWW 1998).
//
// Bounded: a fixed table of `entries` places, 16 bytes each, made at construction. Sets of four: in a full set, the
// entry with the lowest amount makes room, and its amount is lost. So a URL may have been given more than was reported
// of it, never less, except when the digests of two URLs agree in 64 bits. In memory only: after a restart, what was
// reported before stays valid, and new links count from 0. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ring/md5.h"

namespace orbweaver {

// Amounts as scores: four steps to each doubling, so that a score changes rarely and 64 bits fit in 256 scores.
// Monotone; 0 only for 0.
std::uint16_t score_of_amount(std::uint64_t amount);
// The middle of the amounts that have the score; 0 for 0. A score above those of 64 bits counts as the last of them.
std::uint64_t amount_of_score(std::uint16_t score);

// The first amount of a seed: enough that ten generations of 50 links each leave one unit.
inline constexpr std::uint64_t seed_cash = std::uint64_t{1} << 56;

class LinkScores {
 public:
  // Rounded up to a power of two of at least 4; 0: remembers nothing, and every score is reported.
  explicit LinkScores(std::uint32_t entries);
  static std::uint64_t bytes(std::uint32_t entries);  // that such a table takes

  // Adds what a page gives to the URL. Returns the score when it is higher than the last one that was reported.
  std::optional<std::uint16_t> add(const ring::Md5& url, std::uint64_t amount);
  // Raises what the URL was given to at least this much. Returns the score as add() does.
  std::optional<std::uint16_t> at_least(const ring::Md5& url, std::uint64_t amount);
  // A score that was computed elsewhere (topic): returned when it is higher than the last one.
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
