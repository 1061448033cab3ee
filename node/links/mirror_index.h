// Mirrors: one site under several names (docs/how-to/traps.md; Bharat and Broder, "Mirror, Mirror on the Web", 1999:
// hosts that give the same pages at the same paths). The hosts have different owners, so neither of them sees it. Each
// reports the first pages of its hosts, as fingerprints (a hash of path and body, and the host), to the owner of the
// fingerprint's digest. That peer answers both when another host has reported the same.
//
// All of it is a hint: after a loss, or when an entry made room, a mirror is found later or never. Bounded. Pure.
// Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace orbweaver {

// What the owner of fingerprints knows: the host that reported each. About 100 bytes per fingerprint; the oldest make
// room.
class PageFingerprintIndex {
 public:
  explicit PageFingerprintIndex(std::size_t max_page_fingerprints) : max_size_(max_page_fingerprints) {}
  // The other host that gave the same page at the same path, the last one reported; nothing when there is none.
  std::optional<std::string> see(std::uint64_t fingerprint, std::string_view host);
  std::size_t size() const { return hosts_.size(); }

 private:
  std::size_t max_size_;
  std::unordered_map<std::uint64_t, std::string> hosts_;
  std::deque<std::uint64_t> order_;
};

// What the owner of a host knows about it.
class MirrorVerdicts {
 public:
  // The host that a host mirrors. "": known to be none, forever (a suspicion was lifted). Nothing: not known, or none.
  using Load = std::function<std::optional<std::string>()>;
  // Up to `pages` * fingerprints_per_page pages of a host are reported. A host is a mirror when `pages` of its pages,
  // and three quarters of those reported, equal another host's.
  MirrorVerdicts(std::size_t max_hosts, std::uint32_t pages) : max_hosts_(max_hosts), pages_(pages) {}

  // A page of the host was fetched: whether to report it.
  bool tell(const std::string& host, const Load& load);
  // A page of the host equals a page of `other`. True: from now on this makes it a mirror of `other`. Only call when
  // `other` is the one to keep.
  bool matched(const std::string& host, const std::string& other, const Load& load);
  // The host that it is a mirror of; "" when there is none. Cost: a look-up; `load` for a host that is not in memory.
  const std::string& mirror_of(const std::string& host, const Load& load);
  void lift(const std::string& host, const Load& load);
  std::size_t size() const { return hosts_.size(); }

 private:
  static constexpr std::uint32_t fingerprints_per_page = 4;
  static constexpr std::size_t max_others = 4;  // of one host that are counted at a time
  struct Host {
    std::uint32_t reported = 0;
    std::map<std::string, std::uint32_t> same;  // by the other host
    std::string mirror_of;
    bool lifted = false;
  };
  Host& of(const std::string& host, const Load& load);

  std::size_t max_hosts_;
  std::uint32_t pages_;
  std::unordered_map<std::string, Host> hosts_;
};

// Entries that a peer keeps in memory, about 100 bytes each.
inline constexpr std::size_t max_page_fingerprints = 100'000;
inline constexpr std::size_t max_mirror_hosts = 50'000;

// Which of two names of a site is kept when neither is a seed's: the shorter, then the first in the alphabet.
bool better_name(std::string_view a, std::string_view b);

}  // namespace orbweaver
