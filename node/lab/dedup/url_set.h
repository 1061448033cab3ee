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

  // Whether the URL was asked before; from now on it was. Errors: the disk refused (io, disk_full).
  virtual Result<bool> seen(std::string_view url) = 0;
  // The memory in use now, counted: every allocation with the heap's overhead, and a library's own count. Memory shared
  // with the rest of the process, such as the system's page cache, is not included.
  virtual std::uint64_t memory_bytes() const = 0;
  // Why it should not be asked further: its own bound that it has reached. Empty: none.
  virtual std::string had_enough() const { return {}; }
  // The disk blocks of its files and directories, in bytes; 0 without any.
  virtual Result<std::uint64_t> disk_bytes() const { return std::uint64_t{0}; }
};

// A set that may treat a new URL as seen.
class ApproximateUrlSet : public UrlSet {
 public:
  // What seen() would answer now; adds nothing.
  virtual bool would_be_seen(std::string_view url) const = 0;
  // By its formula, the probability that a new URL is treated as seen when it contains `urls` different ones.
  virtual double predicted_rate(std::uint64_t urls) const = 0;
};

// The conditions for which a structure is made.
struct UrlSetPlan {
  std::string directory;                   // its own, empty or as it left it; for structures that write
  std::uint64_t urls = 0;                  // the number of different URLs that will be asked
  std::uint64_t url_bytes = 0;             // of these, together
  std::uint64_t bits_per_url = 20;         // of the Bloom filter and the one-hash bitmap
  std::uint32_t hashes = 10;               // of the Bloom filter
  double bloom_rate = 0;                   // above 0: the Bloom filter's bits and hashes follow from it
  std::uint32_t cache_entries = 65536;     // of the crawler's link cache
  std::uint64_t max_directories = 50'000;  // of the nested directories: removing them can take a disk minutes
};

struct UrlSetKind {
  std::string name;         // "bloom", as in --structures
  std::string description;  // "Bloom filter"
  // The memory that it will take, in bytes: an upper estimate, made before anything is allocated.
  std::function<std::uint64_t(const UrlSetPlan&)> memory_wanted;
  // Opens the content of the directory, which exists, or starts empty.
  std::function<Result<std::unique_ptr<UrlSet>>(const UrlSetPlan&)> open;
};

// All ten, in the order of the literature's table.
// With SHA-1 next to MD5, and the crawler's with and without a filter, they make twelve rows.
const std::vector<UrlSetKind>& url_set_kinds();

}  // namespace orbweaver
