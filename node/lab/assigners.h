// Several ways to choose the peer, of n, that a key belongs to, for comparison (docs/inside/lab-partition.md). A key is
// 64 bits of a digest. Peers have permanent numbers, so that the keys that move when one joins or leaves can be
// counted. Pure; each is made for one set of peers and never changes. Thread rule: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orbweaver {

class Assigner {
 public:
  virtual ~Assigner() = default;
  // The owner's position in the list of peers that this was made with.
  virtual std::uint32_t owner(std::uint64_t key) const = 0;
};

struct AssignerKind {
  enum class Method : std::uint8_t { modulo, jump, rendezvous, consistent, ring };
  Method method = Method::modulo;
  std::uint32_t points = 0;  // of consistent hashing, for each peer
  std::string name() const;
};

inline constexpr std::uint32_t assigner_partitions = 1024;  // of the ring, as docs/inside/lab-partition.md has it

// modulo:     key mod n
// jump:       Lamping and Veach 2014: no table, numbers 0 to n-1, so that only the last can leave without others moving
// rendezvous: Thaler and Ravishankar 1996: the peer with the highest hash of (peer, key); O(n)
// consistent: Karger and others 1997: the first point at or after the key on a circle; `points` for each peer
// ring:       the crawler's own (ring/hash_ring.h): consistent hashing of 1,024 partitions, 200 points per peer
//
// `peers`: their names, at least one, each once.
std::unique_ptr<Assigner> make_assigner(const AssignerKind& kind, const std::vector<std::uint64_t>& peers);

// All that are compared: modulo, jump, rendezvous, consistent with 1, 10, 100 and 1,000 points, ring.
std::vector<AssignerKind> assigner_kinds();

}  // namespace orbweaver
