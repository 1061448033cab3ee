// What the crawl asks of a fetcher, and what it gets back: one HTTP exchange, bytes exactly as they were on the wire.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "node/base.h"
#include "node/http/fetch_error.h"
#include "node/memory/memory_share.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

struct FetchRequest {
  std::uint64_t id = 0;
  CanonicalUrl url;
  std::size_t max_body_bytes = 0;  // the body is cut there (Truncated::length); bytes on the wire
  // RFC 9110, 13.1: what is known of the page; an answer 304 then means that it has not changed. Empty: not sent.
  std::string if_none_match{};      // an ETag as the server wrote it
  std::string if_modified_since{};  // a Last-Modified as the server wrote it
  bool any_type = true;             // false: as CurlFetcherConfig::wanted_type says
  Duration timeout{};               // below CurlFetcherConfig::fetch_timeout; 0: as that says
};

struct FetchResponse {
  std::uint64_t id = 0;
  FetchError error = FetchError::none;
  std::string error_text;  // for people: libcurl's words, the address refused
  int status = 0;          // the final response's status; 0 when there is none
  Time started{};
  Time ended{};
  std::string ip;  // the address connected to, "192.0.2.1" or "2001:db8::1"; empty when none, or a proxy's
  // As sent, through the blank line (filled only when the fetcher was told to record it); values of site_headers and a
  // proxy's password are taken out.
  std::string request_head;
  std::string response_head;  // status line and header lines as received, through the blank line
  std::string body;           // as received: chunked framing and content coding still in place
  Truncated truncated = Truncated::no;
  FetchError tls_fault = FetchError::none;  // what is wrong with the certificate, where that is only recorded
  MemoryCharge held = {};                   // of body and heads; to be kept until nothing more is made of them
};

// Thread rule: start(), resolve() and stop() are called by one thread; `done` runs on the fetcher's own thread and must
// not block. Each of start() and resolve() is answered by exactly one `done`. Bounded: the caller bounds how many are
// in flight; bodies hold at most their share of memory together, until FetchResponse::held is given back (transfers
// wait, they are not cut).
class Fetcher {
 public:
  using Done = std::function<void(FetchResponse)>;
  // 4 or 16 bytes, the lowest of a host's addresses; empty: it has none, nobody answered, or only a proxy knows.
  using Resolved = std::function<void(std::string address)>;
  virtual ~Fetcher() = default;
  virtual void start(FetchRequest request) = 0;
  // Which address a request to this host ("example.com", "::1") and port would go to; nothing is asked for there.
  virtual void resolve(std::string host, std::uint16_t port, Resolved done) = 0;
  // Ends every transfer in flight with FetchError::cancelled, every lookup without an address, and joins the thread.
  virtual void stop() = 0;
};

}  // namespace orbweaver
