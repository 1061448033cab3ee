// Which addresses the crawler may connect to: public ones, and private ranges that the user allowed (allow_private).
// Never addresses that the user denied (deny_addresses), nor IPv6 addresses that contain such an IPv4 address.
//
// A page can name any host, and a host's name can resolve to anything: 127.0.0.1, a router's 192.168.1.1, a cloud's
// 169.254.169.254. So the guard judges the address a socket is about to connect to, never the name. Source: IANA's
// IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), and for IPv6 also the rule that only 2000::/3 is
// allocated as global unicast (RFC 4291, 2.4): addresses outside are refused whether a registry lists them or not.
// Thread rule: immutable after construction; safe from any thread. Cost: about 30 comparisons; only the text of a
// refusal allocates.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/fetch/fetcher.h"
#include "node/settings/cidr.h"

namespace orbweaver {

// Nothing for any family other than IPv4 and IPv6.
std::optional<IpAddress> ip_of(const sockaddr* address);

// Why no connection is made.
struct AddressRefusal {
  FetchError error = FetchError::address_refused;  // or address_denied, no_contact
  std::string words;                               // "127.0.0.1 is in 127.0.0.0/8 (loopback)"
};

class AddressGuard {
 public:
  AddressGuard() = default;  // public addresses only
  explicit AddressGuard(std::vector<Cidr> allowed, std::vector<Cidr> denied = {})
      : allowed_(std::move(allowed)), denied_(std::move(denied)) {}
  // From the settings allow_private and deny_addresses; the error names the range that is invalid.
  static Result<AddressGuard> create(const std::vector<std::string>& allow_private,
                                     const std::vector<std::string>& deny_addresses = {});

  // Refuses public addresses too, except allowed ranges: no contact is set for people whose sites are crawled.
  void refuse_public() { public_refused_ = true; }

  // Nothing when a connection is allowed.
  std::optional<AddressRefusal> refusal(const sockaddr* address) const;
  std::optional<AddressRefusal> refusal(const IpAddress& address) const;

  static bool is_public(const sockaddr* address);
  static bool is_public(const IpAddress& address);

 private:
  std::vector<Cidr> allowed_;
  std::vector<Cidr> denied_;
  bool public_refused_ = false;
};

}  // namespace orbweaver
