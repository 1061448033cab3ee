// Host names to addresses without a thread: c-ares on the fetcher's own epoll loop, with a cache in front.
//
// Asks for AAAA and A together; when the IPv4 answer is there, the IPv6 one is waited for 50 ms more (RFC 8305, 3).
// Many askers of one host share one lookup. At most queries_max queries are in flight, to all servers together and so
// to any one; further lookups wait in order. A truncated answer is asked for again over TCP. Before the DNS: localhost
// (RFC 6761, 6.3: always loopback) and the hosts file as it was at the start. A name without a dot goes through the
// search list of resolv.conf; any other is asked for as it is, since a wildcard in a search domain would answer for
// every dead host. c-ares' only home. Thread rule: the fetcher's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/fetch/dns_cache.h"

namespace orbweaver {

struct ResolverConfig {
  std::vector<std::string> servers;            // ADDR or ADDR:PORT, IPv6 in brackets; empty: the system's
  Duration timeout = std::chrono::seconds{2};  // of the first try; the second and last has twice that
  DnsLifetimes lifetimes{std::chrono::seconds{30}, std::chrono::hours{24}, std::chrono::minutes{5},
                         std::chrono::seconds{2}};
  std::size_t entries_max = 65536;
  std::size_t queries_max = 64;  // in flight together; at least 2
};

class CaresResolver {
 public:
  // What the loop is to wait for on a socket; neither: nothing more, the socket is about to be closed.
  using Watch = std::function<void(int fd, bool readable, bool writable)>;
  struct Finished {
    std::uint64_t token = 0;
    DnsEntry entry;
  };

  static Result<std::unique_ptr<CaresResolver>> create(ResolverConfig config, Watch watch);
  ~CaresResolver();
  CaresResolver(const CaresResolver&) = delete;
  CaresResolver& operator=(const CaresResolver&) = delete;

  // What is known of `host` (lower case, no address) now, valid until the next call; else null, and an entry with this
  // token comes with take_finished().
  const DnsEntry* resolve(const std::string& host, std::uint64_t token, DnsTime now);
  bool owns(int fd) const;
  void on_socket(int fd, bool readable, bool writable, DnsTime now);
  // When tick() is due.
  std::optional<DnsTime> next_deadline(DnsTime now) const;
  void tick(DnsTime now);
  std::vector<Finished> take_finished();

  std::uint64_t queries() const;     // sent so far, further tries not counted
  std::size_t queries_most() const;  // in flight together at most so far

 private:
  class Impl;
  explicit CaresResolver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orbweaver
