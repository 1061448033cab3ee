// Serves a sample web, its search engine (sample_search.h) and directory trees over HTTP on one port, distinguished by
// the Host header. A second port, always on loopback, reports the requests: GET /stats, /urls, /expected,
// /expected_twice (JSON), POST /reset, POST /quit. Thread rule: start(), stop() and the destructor on one thread; the
// accessors any time between. Runs one thread per processor, up to 8, and one for the second port. Memory: about 10 KB
// per connection, plus that of SampleCounts, plus the search engine's index after its first use.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/sampleweb/sample_web.h"

namespace orbweaver::sample {

inline constexpr std::size_t max_counted_urls = 1'000'000;

struct SampleServerOptions {
  SampleWebShape shape;            // its port is set by start(); hosts = 0: only trees
  std::vector<std::string> trees;  // "HOST=DIRECTORY"
  std::string listen_address = "127.0.0.1";
  std::uint16_t listen_port = 0;         // 0: any free one
  std::size_t max_connections = 0;       // open at a time; the oldest idle one is closed for another; 0: 8,192
  unsigned failing = 0;                  // of a thousand pages, this many answer 500 to the first request
  std::chrono::milliseconds latency{0};  // before each answer, in addition to a slow host's own
  // The URL of each request for a page, as it arrives; called from server threads.
  std::function<void(const std::string& url)> on_request;
  std::function<void()> on_quit;  // called from a server thread at POST /quit; must not block
};

class SampleServer {
 public:
  static Result<std::unique_ptr<SampleServer>> start(const SampleServerOptions& options);
  ~SampleServer();

  void stop();
  std::uint16_t port() const;
  std::uint16_t control_port() const;
  std::vector<std::string> seeds() const;
  std::string stats_json() const;  // the answer of GET /stats: sample_counts.h
  // {"ready":true,"port":P,"seeds":[…],"control":"http://127.0.0.1:P2","resolve":["*:P:127.0.0.1"]}
  std::string ready_json() const;

 private:
  struct Impl;
  explicit SampleServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orbweaver::sample
