// Pages and bytes that this peer has had of registered domains, for max_pages_per_domain and max_bytes_per_domain. The
// numbers stand in the meta table (formats.md), so they survive a restart; in memory are those asked for of late, at
// most domains_max. They stay with the peer that counted: a domain's hosts have different owners. Pure. Thread rule:
// one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace orbweaver {

struct Use {
  std::uint64_t pages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t under_way = 0;  // pages asked for and not yet committed; in memory only
};

class UseBook {
 public:
  explicit UseBook(std::size_t domains_max) : domains_max_(domains_max) {}

  // What is known of a domain; `load` reads what is not in memory.
  template <class Load>
  Use& of(const std::string& domain, Load load) {
    const auto found = uses_.find(domain);
    if (found != uses_.end()) return found->second;
    // Any may go: each change is on disk.
    if (uses_.size() >= domains_max_ && !uses_.empty()) uses_.erase(uses_.begin());
    return uses_.emplace(domain, load()).first->second;
  }

 private:
  std::size_t domains_max_;
  std::map<std::string, Use> uses_;
};

}  // namespace orbweaver
