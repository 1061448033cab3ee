// Identities and small values of the ring. ring/ includes neither storage/ nor node/.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace orbweaver::ring {

// One kind of time everywhere: microseconds since the Unix epoch, always passed in, never read from a clock.
using Duration = std::chrono::microseconds;
using Time = std::chrono::sys_time<Duration>;

struct Error {
  std::string message;  // names the thing and the fix
};
template <class T>
using Result = tl::expected<T, Error>;

// A peer's identity: 128 random bits made with its data directory, kept across restarts and moves.
struct PeerId {
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const PeerId& other) const { return halves() == other.halves(); }
  // As the bytes compare. Maps compare ids for every peer of a ring, so this is two numbers, not a call.
  std::strong_ordering operator<=>(const PeerId& other) const { return halves() <=> other.halves(); }
  std::string hex() const;    // 32 lower-case digits
  std::string brief() const;  // the first 8 of them, for logs and tables
  static std::optional<PeerId> from_hex(std::string_view text);

 private:
  // Big-endian.
  std::array<std::uint64_t, 2> halves() const {
    std::array<std::uint64_t, 2> numbers{};
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    if constexpr (std::endian::native == std::endian::little)
      for (std::uint64_t& number : numbers) number = __builtin_bswap64(number);
    return numbers;
  }
};

// A ring's identity (the crawl id): made by the first peer of a ring. Messages of another ring are refused.
using RingId = PeerId;

// A fixed slice of the host space: the leading bits of MD5(canonical host). 0 to partitions-1.
using Partition = std::uint16_t;

// The number of partitions is fixed when a ring is made: a power of two.
inline constexpr std::uint32_t partitions_default = 4096;
inline constexpr std::uint32_t max_partitions = 65536;

// A peer's weight on the ring is 0 (owns nothing) to this. Ring points, and so memory, grow with it (2 points per unit,
// 16 bytes each).
inline constexpr std::uint32_t max_capacity = 10000;

// Numbers are on the wire and on disk: append only.
enum class MemberState : std::uint8_t {
  joining = 0,  // known, owns nothing yet
  active = 1,   // owns partitions
  leaving = 2,  // owns nothing any more, hands over the partitions that it holds
  left = 3,     // gone, as it announced itself
  down = 4,     // silent for longer than the suspicion time
};

// The record of one peer. Precedence between two records of the same peer (SWIM, section 4.2): the higher incarnation
// wins; with equal incarnations: left over down over suspect over not suspect; then the higher state.
struct Member {
  PeerId id;
  std::string address;           // "host:port" that others reach it at
  std::uint32_t capacity = 100;  // its weight on the ring: 100 is an ordinary peer
  // Raised by the peer itself only: at each start by 32,768 or more, to change state, to refute.
  std::uint64_t incarnation = 0;
  MemberState state = MemberState::joining;
  bool suspect = false;  // does not answer probes; still owns its partitions
  // When its process started, by its machine's clock (microseconds since the epoch). It tells two processes with one
  // identity apart (a copied data directory): equal means the same process. It orders nothing but these two.
  std::uint64_t started = 0;
  std::uint16_t protocol = 0;  // the newest protocol version that it speaks (messages.h); 0: not known
  bool operator==(const Member&) const = default;
};

// So many for each life of a peer; a process begins in their lower half. Others suspect a living peer less often.
inline constexpr std::uint64_t incarnations_a_life = 65536;

// Who fetches a partition, and since which change of hands. The epoch rises by one with every hand-off and take-over.
// Of two tenures of one partition the larger (epoch, then holder) is the valid one, so tenures merge as records do. A
// message about an older tenure is refused;
// a peer that held under an older one has lost the partition. Epoch 0: no peer has held it yet.
struct Tenure {
  std::uint64_t epoch = 0;
  PeerId holder;
  auto operator<=>(const Tenure&) const = default;
};
struct PartitionTenure {
  Partition partition = 0;
  Tenure tenure;
  bool operator==(const PartitionTenure&) const = default;
};

// Owns partitions: active, suspected or not.
inline bool owns_partitions(const Member& member) { return member.state == MemberState::active; }
// Worth sending to: not left, not down.
inline bool reachable(const Member& member) { return member.state < MemberState::left; }

}  // namespace orbweaver::ring
