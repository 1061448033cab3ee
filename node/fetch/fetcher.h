// What the crawl asks of a fetcher, and what it gets back: one HTTP exchange, its bytes exactly as on the wire.
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
  // RFC 9110, 13.1: the page's known version; an answer 304 means that it has not changed. Empty: not sent.
  std::string if_none_match{};      // an ETag as the server wrote it
  std::string if_modified_since{};  // a Last-Modified as the server wrote it
  std::string cookies{};            // the value of the field Cookie; empty: not sent
  bool any_type = true;             // false: CurlFetcherConfig::wanted_type decides
  Duration timeout{};               // if shorter than CurlFetcherConfig::fetch_timeout; 0: that one applies
};

struct FetchResponse {
  std::uint64_t id = 0;
  FetchError error = FetchError::none;
  std::string error_text;  // for people: libcurl's words, or the refused address
  int status = 0;          // the final response's status; 0 when there is none
  Time started{};
  Time ended{};
  std::string ip;  // the connected address, "192.0.2.1" or "2001:db8::1"; empty when none, or a proxy's
  // As sent, including the blank line (only if the fetcher is configured to record it). Values of site_headers and a
  // proxy's password are removed.
  std::string request_head;
  std::string response_head;  // status line and header lines as received, including the blank line
  std::string body;           // as received: chunked framing and content coding still present
  Truncated truncated = Truncated::no;
  FetchError tls_fault = FetchError::none;  // the certificate's fault, if faults are only recorded
  MemoryCharge charge = {};                 // of body and heads; keep it as long as they are used
};

// Thread rule: start(), resolve() and stop() are called by one thread; `done` runs on the fetcher's own thread and must
// not block. Each start() and resolve() leads to exactly one `done`. Bounded: the caller limits how many are in flight.
// Bodies use at most their share of memory together, until FetchResponse::charge is released (transfers then wait, they
// are not cut).
class Fetcher {
 public:
  using Done = std::function<void(FetchResponse)>;
  // 4 or 16 bytes, the lowest of a host's addresses; empty: it has none, none was found, or only a proxy knows it.
  using Resolved = std::function<void(std::string address)>;
  virtual ~Fetcher() = default;
  virtual void start(FetchRequest request) = 0;
  // The address that a request to this host ("example.com", "::1") and port would use; no request is sent there.
  virtual void resolve(std::string host, std::uint16_t port, Resolved done) = 0;
  // Ends every transfer in flight with FetchError::cancelled and every lookup without an address; joins the thread.
  virtual void stop() = 0;
};

}  // namespace orbweaver
