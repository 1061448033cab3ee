// The one question of URL de-duplication, seen before?, as every structure of the literature answers it here: the
// interface of `orbweaver lab dedup` (docs/inside/lab-dedup.md). Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

class UrlSet {
 public:
  virtual ~UrlSet() = default;

  // Whether the URL was asked before; it is in from now on. Errors: the disk refused (io, disk_full).
  virtual Result<bool> seen(std::string_view url) = 0;
  // What is in memory now, counted: every allocation with what the heap adds to it, and what a library says of itself.
  // What a structure shares with the rest of the process, such as the system's page cache, is not in it.
  virtual std::uint64_t memory_bytes() const = 0;
  // Why no more should be asked of it: a bound of its own that it has reached. Empty: it has not.
  virtual std::string had_enough() const { return {}; }
  // Blocks of its files and directories on the disk, in bytes; 0 without any.
  virtual Result<std::uint64_t> disk_bytes() const { return std::uint64_t{0}; }
};

// One that may take a new URL as seen.
class ApproximateUrlSet : public UrlSet {
 public:
  // What seen() would answer now; nothing is added.
  virtual bool would_be_seen(std::string_view url) const = 0;
  // That a new URL is taken as seen when `urls` different ones are in, by the formula of the structure.
  virtual double predicted_rate(std::uint64_t urls) const = 0;
};

// What a structure is made for.
struct UrlSetPlan {
  std::string directory;                   // of its own, empty or as it left it; for those that write
  std::uint64_t urls = 0;                  // different ones that will be asked
  std::uint64_t url_bytes = 0;             // of those, together
  std::uint64_t bits_per_url = 20;         // of the Bloom filter and the one-hash bitmap
  std::uint32_t hashes = 10;               // of the Bloom filter
  double bloom_rate = 0;                   // above 0: the Bloom filter's bits and hashes follow from it
  std::uint32_t cache_entries = 65536;     // of the crawler's link cache
  std::uint64_t directories_max = 50'000;  // of the nested directories: removing them again can take a disk minutes
};

struct UrlSetKind {
  std::string name;         // "bloom", as --structures takes it
  std::string description;  // "Bloom filter"
  // Memory that it will take, bytes: an estimate from above, made before anything is allocated.
  std::function<std::uint64_t(const UrlSetPlan&)> memory_wanted;
  // Opens what is in the directory, which is there, or begins with nothing.
  std::function<Result<std::unique_ptr<UrlSet>>(const UrlSetPlan&)> open;
};

// All ten, in the order of the literature's table; SHA-1 beside MD5, and the crawler's with and without a filter, make
// twelve rows.
const std::vector<UrlSetKind>& url_set_kinds();

}  // namespace orbweaver
