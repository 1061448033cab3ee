// Hosts with queued URLs that left memory because they may not be asked for long: when each is due, and what would
// otherwise be forgotten of it. The next due is found in O(log n). Bounded in bytes: about 240 a host, 370 one whose
// robots.txt could not be had yet. Pure. Thread rule: one owner (the workbench).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/frontier/bench_host.h"
#include "storage/url_key.h"

namespace orbweaver {

// What only memory knows of a host.
struct WaitingHost {
  Time due{};           // its first URL may be tried
  Time next_allowed{};  // the host may be asked, if for another URL
  Time down_until{};
  Time lent_until{};
  Time yields_until{};
  Duration crawl_delay{};
  std::uint32_t failures = 0;
  HostPacing pacing{};
  std::pair<std::uint64_t, std::uint32_t> content{};  // the body seen most often, and how often
  std::vector<RobotsSlot> robots{};                   // of origins whose file is still asked for

  static WaitingHost of(BenchHost& host, Time due);  // takes `robots` from it
  void give_to(BenchHost& host) const;
};

class WaitingHosts {
 public:
  static constexpr std::size_t host_bytes = 240;  // with the nodes of both tables

  explicit WaitingHosts(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  WaitingHosts(const WaitingHosts&) = delete;
  WaitingHosts& operator=(const WaitingHosts&) = delete;

  bool full() const { return bytes_ + host_bytes > max_bytes_; }
  void add(const storage::HostKey& key, WaitingHost host);
  const WaitingHost* find(const storage::HostKey& key) const;
  // Another peer comes for its turn before this.
  void yield(const storage::HostKey& key, Time until);
  // It has a URL that was not tried yet: it is due as soon as it may be asked.
  void hasten(const storage::HostKey& key);
  std::optional<Time> next_due() const;
  // The first host that is due, which waits no longer. Nothing: none is.
  std::optional<std::pair<storage::HostKey, WaitingHost>> take(Time now);
  void forget(std::uint16_t partition);

  std::size_t size() const { return hosts_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  using Entry = std::pair<const storage::HostKey, WaitingHost>;
  struct Earlier {
    bool operator()(const Entry* a, const Entry* b) const {
      return a->second.due != b->second.due ? a->second.due < b->second.due : a->first < b->first;
    }
  };
  using Hosts = std::map<storage::HostKey, WaitingHost>;
  Hosts::iterator erase(Hosts::iterator at);

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  Hosts hosts_;
  std::set<Entry*, Earlier> by_due_;  // of all hosts_
};

}  // namespace orbweaver
