// Known addresses of hosts, for as long as the records allow, and the hosts file.
//
// Bounded: at most max_entries hosts; the least recently requested one makes room (about 150 bytes per host). Pure:
// `now` is passed in. Thread rule: one owner.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/fetch/dns_message.h"

namespace orbweaver {

using DnsTime = std::chrono::steady_clock::time_point;

// The result of asking for a host.
struct DnsEntry {
  std::vector<IpAddress> addresses;  // IPv6 first (RFC 8305, 4: the family to try first)
  std::string failure;               // for people; empty when there are addresses
  DnsTime expires{};
};

// How long answers stay valid.
struct DnsLifetimes {
  Duration ttl_min{};       // a shorter TTL counts as this: TTL 0 would cost two queries per page
  Duration max_ttl{};       // a longer TTL counts as this
  Duration max_negative{};  // NXDOMAIN and no data: as the SOA record says, at most this (RFC 2308, 5)
  Duration failure{};       // SERVFAIL, no answer: at most five minutes (RFC 2308, 7)
};

// Both families' answers as one entry. If one family failed, the other still counts.
DnsEntry join_answers(const DnsAnswer& v6, const DnsAnswer& v4, const DnsLifetimes& lifetimes, DnsTime now);

class DnsCache {
 public:
  explicit DnsCache(std::size_t max_entries) : max_entries_(max_entries) {}
  // Null when nothing is known, or no longer. Valid until the next put().
  const DnsEntry* find(const std::string& host, DnsTime now);
  void put(const std::string& host, DnsEntry entry);
  std::size_t size() const { return index_.size(); }

 private:
  using Order = std::list<std::pair<std::string, DnsEntry>>;  // most recently requested first
  std::size_t max_entries_;
  Order order_;
  std::unordered_map<std::string_view, Order::iterator> index_;  // keys are views into order_
};

// /etc/hosts (hosts(5)): an address and its names on each line, # begins a comment. Names in lower case. Lines without
// a readable address are skipped, as in the C library.
std::unordered_map<std::string, std::vector<IpAddress>> parse_hosts_file(std::string_view text);

}  // namespace orbweaver
