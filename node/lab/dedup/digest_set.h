// Digests of URLs in a hash set, MD5 (16 bytes) or SHA-1 (20 bytes): like HashSet, but independent of a URL's length.
// Two URLs with the same digest would count as one; by chance that does not happen (2^-128, 2^-160 for each pair), so
// it counts as exact. In memory only. Thread rule: one thread.
#pragma once

#include <cstring>
#include <unordered_set>

#include "node/lab/dedup/counting_allocator.h"
#include "node/lab/dedup/url_set.h"
#include "ring/md5.h"
#include "storage/sha1.h"

namespace orbweaver {

template <class Digest, class Make>
class DigestSet final : public UrlSet {
 public:
  Result<bool> seen(std::string_view url) override { return !set_.insert(Make()(url)).second; }
  std::uint64_t memory_bytes() const override { return bytes_; }

 private:
  // Any eight bytes of a digest are a hash.
  struct Hash {
    std::size_t operator()(const Digest& digest) const {
      std::size_t hash = 0;
      std::memcpy(&hash, digest.data(), sizeof hash);
      return hash;
    }
  };
  std::uint64_t bytes_ = 0;
  std::unordered_set<Digest, Hash, std::equal_to<>, CountingAllocator<Digest>> set_{16, Hash(), std::equal_to<>(),
                                                                                    CountingAllocator<Digest>(&bytes_)};
};

struct MakeMd5 {
  ring::Md5 operator()(std::string_view url) const { return ring::md5(url); }
};
struct MakeSha1 {
  storage::Sha1 operator()(std::string_view url) const { return storage::sha1({url}); }
};
using Md5Set = DigestSet<ring::Md5, MakeMd5>;
using Sha1Set = DigestSet<storage::Sha1, MakeSha1>;

}  // namespace orbweaver
