// The fetcher on libcurl's multi interface: one thread, one epoll set, thousands of transfers, reused connections.
//
// Bytes are delivered raw, without undoing chunked framing or content codings: the archive keeps the bytes of the wire.
// Redirects, proxies from the environment, netrc, HTTP/0.9 and protocols other than http and https are off.
// AddressGuard judges every address when its socket is opened; a kept connection was judged when it was opened. A whole
// head with a part of its body is an answer (FetchError::none) with the reason in `truncated`. CaresResolver looks up
// names first; libcurl gets the addresses, tries both families (RFC 8305) and never looks up a name. With a proxy only
// the proxy's name is looked up, and only its address is judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/fetch/address_guard.h"
#include "node/fetch/cares_resolver.h"
#include "node/fetch/fetcher.h"
#include "node/memory/memory_share.h"
#include "node/settings/settings.h"
#include "node/settings/site_header.h"

namespace orbweaver {

struct CurlFetcherConfig {
  std::string user_agent;
  bool record_requests = false;                         // fill FetchResponse::request_head
  Duration connect_timeout = std::chrono::seconds{10};  // name lookup, TCP and TLS together
  Duration fetch_timeout =
      std::chrono::seconds{60};       // the whole exchange, without the time spent waiting for body memory
  std::uint64_t low_speed_bytes = 0;  // body bytes per second; 0: no such limit
  Duration low_speed_time = std::chrono::seconds{20};  // rounded up to whole seconds
  std::uint64_t average_speed_bytes = 0;  // per second, from the first byte on; judged after low_speed_time
  std::size_t max_header_bytes =
      64u << 10;  // all header lines, including interim responses; one line at most 100 KB (libcurl's own limit)
  std::size_t max_body_memory = 256u << 20;  // bodies together; below the longest body, that body is the bound
  std::shared_ptr<MemoryShare> bodies;       // bodies are charged to it; null: a share of max_body_memory
  std::size_t max_idle_connections = 512;    // kept open for later requests, in addition to those in use
  std::vector<std::string> resolve;          // HOST:PORT:ADDR; HOST "*": every host at that port
  AddressGuard guard;
  std::string ca_file;  // PEM; empty: the system's
  HttpVersion http_version = HttpVersion::automatic;
  TlsMin min_tls = TlsMin::tls_1_2;
  bool tls_refuse = true;  // false: faults of certificates are only recorded (FetchResponse::tls_fault)
  std::string proxy;       // http://[USER:PASSWORD@]HOST:PORT or socks5h://…; empty: none
  std::vector<SiteHeader> site_headers;
  // Decides by the Content-Type of a 2xx response. False: the body is cut before its first byte. Called on the
  // fetcher's thread; none: every type is wanted.
  std::function<bool(std::string_view content_type)> wanted_type;
  ResolverConfig resolver;
  std::function<Time()> clock;  // for FetchResponse::started and ended; called on the fetcher's thread
};

class CurlFetcher final : public Fetcher {
 public:
  // `done`: see Fetcher. Exceptions must not leave it.
  static Result<std::unique_ptr<CurlFetcher>> create(CurlFetcherConfig config, Done done);
  ~CurlFetcher() override;

  // After stop() the answer (cancelled, or no address) is given immediately, on the caller's thread.
  void start(FetchRequest request) override;
  void resolve(std::string host, std::uint16_t port, Resolved done) override;
  void stop() override;

  struct Counts {
    std::uint64_t connections_opened = 0;
    std::uint64_t pauses = 0;            // transfers that waited for body memory
    std::uint64_t body_memory_peak = 0;  // bytes
    std::uint64_t dns_queries = 0;
    std::uint64_t dns_queries_most = 0;  // maximum in flight together
  };
  // Call it only after stop().
  Counts counts() const;
  // From any thread, also while it runs.
  std::uint64_t connections_opened() const;
  std::uint64_t dns_queries() const;
  std::uint64_t descriptor_waits() const;  // transfers that had to wait for a file descriptor

 private:
  class Loop;
  explicit CurlFetcher(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace orbweaver
