// Reading a DNS answer as it came from a server: the addresses, how long they hold, or how long their absence holds.
//
// Sources: RFC 1035, 4.1 (message format), RFC 2181, 8 (TTL), RFC 2308, 5 (negative answers), RFC 3596 (AAAA). Outside
// input: bounded, never throws. Names in it are passed over, never followed, so that a compression loop costs nothing.
// Thread rule: free functions and values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/settings/cidr.h"

namespace orbweaver {

enum class DnsType : std::uint16_t { a = 1, aaaa = 28 };

// Addresses of one answer that are kept; a page of more is no web server's.
inline constexpr std::size_t dns_addresses_max = 16;

struct DnsAnswer {
  enum class Kind : std::uint8_t {
    addresses,
    no_name,  // NXDOMAIN
    no_data,  // the name exists, without such a record
    failed,   // SERVFAIL and the like, or a message that cannot be read
  };
  Kind kind = Kind::failed;
  std::vector<IpAddress> addresses;
  // addresses: the least TTL of the records on the way; no_name, no_data: the lesser of the SOA record's TTL and its
  // MINIMUM field, 0 without one (RFC 2308, 5: then it is not to be cached).
  std::chrono::seconds ttl{0};
  std::string problem;  // failed: for people
};

// `message`: the whole answer to a question for `type`.
DnsAnswer parse_dns_answer(std::string_view message, DnsType type);

}  // namespace orbweaver
