// Mirrors: one site under several names (docs/how-to/traps.md; Bharat and Broder, "Mirror, Mirror on the Web", 1999:
// hosts that give the same pages at the same paths). The hosts have different owners, so that neither sees it: each
// tells the first pages of its hosts, as fingerprints (a hash of path and body, and the host), to the owner of the
// fingerprint's digest, which answers both when it heard of the same from another host.
//
// All of it is a hint: what is lost, or forgotten to make room, makes a mirror be found later or never. Bounded. Pure.
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

// What the owner of fingerprints knows: which host was told of each. About 100 bytes a fingerprint; the oldest make
// room.
class PageFingerprintIndex {
 public:
  explicit PageFingerprintIndex(std::size_t max_page_fingerprints) : max_size_(max_page_fingerprints) {}
  // The other host that gave the same page at the same path, the last that was told; nothing when there is none.
  std::optional<std::string> see(std::uint64_t fingerprint, std::string_view host);
  std::size_t size() const { return hosts_.size(); }

 private:
  std::size_t max_size_;
  std::unordered_map<std::uint64_t, std::string> hosts_;
  std::deque<std::uint64_t> order_;
};

// What the owner of a host knows of it.
class MirrorVerdicts {
 public:
  // Whose mirror a host is. "": known to be none, forever (a suspicion was lifted). Nothing: not known, or none.
  using Load = std::function<std::optional<std::string>()>;
  // Of a host are told `pages` * fingerprints_per_page; this many pages equal to another's, and three quarters of those
  // that were told, make it a mirror.
  MirrorVerdicts(std::size_t hosts_max, std::uint32_t pages) : hosts_max_(hosts_max), pages_(pages) {}

  // A page of the host was fetched: whether it is to be told.
  bool tell(const std::string& host, const Load& load);
  // A page of the host is `other`'s too. True: that makes it, from now on, a mirror of `other`. Only call when
  // `other` is the one to keep.
  bool matched(const std::string& host, const std::string& other, const Load& load);
  // The host that it is a mirror of; "" when it is none. Cost: a look-up; `load` for a host that is not in memory.
  const std::string& mirror_of(const std::string& host, const Load& load);
  void lift(const std::string& host, const Load& load);
  std::size_t size() const { return hosts_.size(); }

 private:
  static constexpr std::uint32_t fingerprints_per_page = 4;
  static constexpr std::size_t others_max = 4;  // of one host that are counted at a time
  struct Host {
    std::uint32_t reported = 0;
    std::map<std::string, std::uint32_t> same;  // by the other host
    std::string mirror_of;
    bool lifted = false;
  };
  Host& of(const std::string& host, const Load& load);

  std::size_t hosts_max_;
  std::uint32_t pages_;
  std::unordered_map<std::string, Host> hosts_;
};

// What a peer keeps in memory, about 100 bytes each.
inline constexpr std::size_t max_page_fingerprints = 100'000;
inline constexpr std::size_t mirror_hosts_max = 50'000;

// Which of two names of a site is kept when neither is a seed's: the shorter, then the first in the alphabet.
bool better_name(std::string_view a, std::string_view b);

}  // namespace orbweaver
