// The errors of one HTTP exchange, for the crawl's rules and its records. Pure. Thread rule: values.
#pragma once

#include <cstdint>

namespace orbweaver {

// Why an exchange gave no whole response. Numbers are stored in URL records: append only.
enum class FetchError : std::uint8_t {
  none = 0,
  dns = 1,                // the host's name does not resolve
  connect = 2,            // refused, unreachable, or no answer within connect_timeout
  tls = 3,                // certificate or handshake
  timeout = 4,            // fetch_timeout passed, or slower than the low-speed limit
  empty_reply = 5,        // the connection closed before any byte of a response
  broken = 6,             // reset or malformed in mid-response (bad chunk, bad header, wrong length)
  headers_too_large = 7,  // more than max_header_bytes of header lines
  address_refused = 8,    // the address is private, loopback, link-local…, and no allow_private range covers it
  bad_response = 9,       // not HTTP, or a status outside 100-599
  cancelled = 10,         // this peer is stopping
  internal = 11,          // the fetcher's own failure; the text says which
  tls_expired = 12,       // the certificate is not valid now
  tls_wrong_name = 13,    // the certificate is for other hosts
  tls_self_signed = 14,   // no authority signed it
  tls_untrusted = 15,     // any other fault of its chain: unknown or missing authority, weak algorithm
  address_denied = 16,    // the address is in deny_addresses
  no_contact = 17,        // the address is public, and no contact is set for people whose sites are crawled
};

// Why a body is shorter than the server intended; the names are WARC-Truncated's.
enum class Truncated : std::uint8_t { no = 0, length = 1, time = 2, disconnect = 3 };

}  // namespace orbweaver
