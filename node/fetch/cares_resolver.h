// Resolves host names without a thread: c-ares on the fetcher's own epoll loop, with a cache in front.
//
// It asks for AAAA and A together. When the IPv4 answer is there, it waits up to 50 ms more for the IPv6 one (RFC 8305,
// 3). Requests for the same host share one lookup. At most max_queries queries are in flight, to all servers together
// and so to any one; further lookups wait in order. A truncated answer is requested again over TCP. Before the DNS:
// localhost (RFC 6761, 6.3: always loopback) and the hosts file as it was at the start. A name without a dot uses the
// search list of resolv.conf. Any other name is looked up as it is: a wildcard in a search domain would answer for
// every dead host. Only this file uses c-ares. Thread rule: the fetcher's thread.
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
  Duration timeout = std::chrono::seconds{2};  // for the first try; the second and last gets twice that
  DnsLifetimes lifetimes{std::chrono::seconds{30}, std::chrono::hours{24}, std::chrono::minutes{5},
                         std::chrono::seconds{2}};
  std::size_t max_entries = 65536;
  std::size_t max_queries = 64;  // in flight together; at least 2
};

class CaresResolver {
 public:
  // What the loop must wait for on a socket; if neither: nothing more, the socket is about to be closed.
  using Watch = std::function<void(int fd, bool readable, bool writable)>;
  struct Finished {
    std::uint64_t token = 0;
    DnsEntry entry;
  };

  static Result<std::unique_ptr<CaresResolver>> create(ResolverConfig config, Watch watch);
  ~CaresResolver();
  CaresResolver(const CaresResolver&) = delete;
  CaresResolver& operator=(const CaresResolver&) = delete;

  // The known entry of `host` (lower case, not an address), valid until the next call. If null, take_finished() will
  // later return an entry with this token.
  const DnsEntry* resolve(const std::string& host, std::uint64_t token, DnsTime now);
  bool owns(int fd) const;
  void on_socket(int fd, bool readable, bool writable, DnsTime now);
  // When tick() is due.
  std::optional<DnsTime> next_deadline(DnsTime now) const;
  void tick(DnsTime now);
  std::vector<Finished> take_finished();

  std::uint64_t queries() const;     // sent so far, without retries
  std::size_t queries_most() const;  // the maximum in flight together so far

 private:
  class Impl;
  explicit CaresResolver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orbweaver
