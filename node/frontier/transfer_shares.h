// Which host may begin another transfer, so that slow hosts starve no other host. A transfer counts for the registered
// domain of its host and for the network of its address (a /24 of IPv4, a /48 of IPv6): a wildcard domain has any
// number of hosts, and a machine any number of domains.
//
//   - A domain and a network have a share each (an eighth of all, by default). Within both shares, a transfer may begin
//     as long as a slot is left.
//   - Beyond one of them it may begin only as long as `reserve` (an eighth) stays free afterwards. So a host alone uses
//     all but the reserve, and a latecomer finds the reserve, whatever the others use. When the reserve is in use too,
//     slots that become free go to hosts within their share, until all that wait are within theirs.
//
// Hosts that may not begin wait in line, first come, first served; next_waiting() names them when they may begin.
// Bounded by the transfers in flight and the waiting hosts. Pure. Cost: logarithmic in the waiting hosts. Thread rule:
// one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ring/table_sizes.h"
#include "storage/store.h"

namespace orbweaver {

// The network of an address of 4 or 16 bytes: its first 3 or 6 bytes. For an IPv4 address in the well-known prefix of
// NAT64 (RFC 6052) or a mapped one (RFC 4291), the network of the IPv4 address. Empty: no address.
std::string network_of(std::string_view address);

class TransferShares {
 public:
  struct Limits {
    std::uint32_t slots = 0;
    std::uint32_t max_domain = 0;
    std::uint32_t max_network = 0;
    std::uint32_t reserve = 0;
    bool operator==(const Limits&) const = default;
  };
  // By the settings: a share of 0 is an eighth of the slots, at least 1. The reserve is an eighth of them, rounded, so
  // below four slots there is none.
  static Limits limits(std::uint32_t slots, std::uint32_t max_domain, std::uint32_t max_network);

  // Of one host; empty: not known, or none.
  struct Place {
    std::string domain;
    std::string network;
  };

  explicit TransferShares(Limits limits) : limits_(limits) {}

  bool may_begin(const Place& place) const;
  void begin(std::uint64_t transfer, Place place);
  void end(std::uint64_t transfer);
  std::size_t under_way() const { return transfers_.size(); }

  // Puts a host that may not begin now in the line.
  void wait(const storage::HostKey& host, const Place& place);
  // Of the waiting hosts that may begin, the one that has waited longest; it leaves the line.
  std::optional<storage::HostKey> next_waiting();
  bool any_may_go() const;  // next_waiting() returns one
  std::size_t waiting() const { return by_host_.size(); }
  std::uint64_t waits_in_all() const { return next_ticket_; }
  ring::TableSizes tables() const;

 private:
  // The hosts that wait for one domain or one network.
  struct Line {
    std::uint32_t under_way = 0;
    std::map<std::uint64_t, storage::HostKey> waiting;  // by ticket
  };
  using Lines = std::unordered_map<std::string, Line>;
  struct Ticket {
    std::uint64_t number = 0;
    std::string line;
  };
  static std::string domain_line(const Place& place) { return "d" + place.domain; }
  static std::string network_line(const Place& place) { return "n" + place.network; }
  std::uint32_t most(const std::string& line) const {
    return line.front() == 'd' ? limits_.max_domain : limits_.max_network;
  }
  std::uint32_t under_way(const std::string& line) const;
  bool has_room(const std::string& line) const { return line.size() == 1 || under_way(line) < most(line); }
  bool beyond_reserve() const;
  void count(const std::string& line, bool begins);
  void note_open(const std::string& line, const Line& at);
  void let_go(const storage::HostKey& host);

  Limits limits_;
  std::unordered_map<std::uint64_t, Place> transfers_;
  Lines lines_;                                         // with a transfer in flight or a waiting host
  std::map<storage::HostKey, Ticket> by_host_;          // of the waiting hosts
  std::map<std::uint64_t, storage::HostKey> in_order_;  // all waiting hosts
  std::map<std::uint64_t, std::string> open_;           // lines with room and a waiting host, by their first ticket
  std::uint64_t next_ticket_ = 0;
};

}  // namespace orbweaver
