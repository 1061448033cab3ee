// What is known of hosts' addresses, for as long as the records say, and the hosts file beside it.
//
// Bounded: at most entries_max hosts, the one not asked for longest makes room (about 150 bytes a host). Pure: `now` is
// passed in. Thread rule: one owner.
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
  std::vector<IpAddress> addresses;  // IPv6 first (RFC 8305, 4: the family that is tried first)
  std::string failure;               // for people; empty when there are addresses
  DnsTime expires{};
};

// How long answers are kept.
struct DnsLifetimes {
  Duration ttl_min{};       // a shorter TTL is taken as this: TTL 0 would cost two queries a page
  Duration ttl_max{};       // a longer one as this
  Duration negative_max{};  // NXDOMAIN and no data: by the SOA record, at most this (RFC 2308, 5)
  Duration failure{};       // SERVFAIL, no answer: RFC 2308, 7: not longer than five minutes
};

// Both families' answers as one entry. A family that failed does no harm to the other.
DnsEntry join_answers(const DnsAnswer& v6, const DnsAnswer& v4, const DnsLifetimes& lifetimes, DnsTime now);

class DnsCache {
 public:
  explicit DnsCache(std::size_t entries_max) : entries_max_(entries_max) {}
  // Null when nothing is known (any more). Valid until the next put().
  const DnsEntry* find(const std::string& host, DnsTime now);
  void put(const std::string& host, DnsEntry entry);
  std::size_t size() const { return index_.size(); }

 private:
  using Order = std::list<std::pair<std::string, DnsEntry>>;  // lately asked for first
  std::size_t entries_max_;
  Order order_;
  std::unordered_map<std::string_view, Order::iterator> index_;  // keys are views into order_
};

// /etc/hosts (hosts(5)): an address and its names on each line, # begins a comment. Names in lower case; lines without
// a readable address are passed over, as the C library does.
std::unordered_map<std::string, std::vector<IpAddress>> parse_hosts_file(std::string_view text);

}  // namespace orbweaver
