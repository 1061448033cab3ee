// Reads a DNS answer as a server sent it: the addresses, and how long they or their absence are valid.
//
// Sources: RFC 1035, 4.1 (message format), RFC 2181, 8 (TTL), RFC 2308, 5 (negative answers), RFC 3596 (AAAA). Outside
// input: bounded, never throws. Names in it are skipped, and pointers are never followed, so a compression loop costs
// nothing. Thread rule: free functions and values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/settings/cidr.h"

namespace orbweaver {

enum class DnsType : std::uint16_t { a = 1, aaaa = 28 };

// Addresses that are kept of one answer; a web server has fewer.
inline constexpr std::size_t max_dns_addresses = 16;

struct DnsAnswer {
  enum class Kind : std::uint8_t {
    addresses,
    no_name,  // NXDOMAIN
    no_data,  // the name exists, without such a record
    failed,   // SERVFAIL and the like, or an unreadable message
  };
  Kind kind = Kind::failed;
  std::vector<IpAddress> addresses;
  // addresses: the lowest TTL of the records used; no_name, no_data: the lower of the SOA record's TTL and its MINIMUM
  // field, 0 without one (RFC 2308, 5: then it must not be cached).
  std::chrono::seconds ttl{0};
  std::string problem;  // failed: for people
};

// `message`: the whole answer to a query for `type`.
DnsAnswer parse_dns_answer(std::string_view message, DnsType type);

}  // namespace orbweaver
