// How many pages this peer may still ask for, under the ring's limits of pages and bytes. Waves
// (termination_detector.h) share the pages out: a peer has a cap, the number of pages that its process may have fetched
// in all, and asks for a page only below it. Bytes are counted by directory, in the row meta_name::bytes; they bound
// what the waves grant, not a single page. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "node/settings/settings.h"
#include "storage/store.h"

namespace orbweaver {

class PageAllowance {
 public:
  // `settings` outlives it.
  explicit PageAllowance(const Settings& settings) : settings_(&settings) {}

  // Reads the bytes of earlier runs from their row.
  void restore(std::string_view row);

  bool limited() const { return settings_->max_pages > 0 || settings_->max_bytes > 0; }
  // Another page may be asked for.
  bool may_start() const { return !limited() || used() < cap_; }
  void page_begins() { ++in_flight_; }
  void page_ends() { --in_flight_; }   // its outcome is noted, or it was given up
  void page_fetched() { ++fetched_; }  // one that counts as fetched
  // A response, with its bytes as received. Under max_bytes the row goes into `commit`.
  void count_bytes(std::uint64_t bytes, storage::Commit& commit);

  void grant(std::uint64_t cap) { cap_ = std::max(cap_, cap); }
  // This peer has no work: what it was granted becomes free for the others.
  void give_back() { cap_ = used(); }

  // As the replies to waves report them.
  std::uint64_t cap() const { return std::max(cap_, used()); }
  std::uint64_t unspent() const { return cap() - fetched_; }
  std::uint64_t fetched() const { return fetched_; }  // since the start of the process
  std::uint64_t bytes() const { return bytes_; }      // by this peer's directory
  std::size_t in_flight() const { return in_flight_; }

 private:
  std::uint64_t used() const { return fetched_ + in_flight_; }

  const Settings* settings_;
  std::uint64_t fetched_ = 0;
  std::size_t in_flight_ = 0;
  std::uint64_t cap_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace orbweaver
