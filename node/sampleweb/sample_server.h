// Serves a sample web, its search engine (sample_search.h) and directory trees over HTTP, told apart by the Host
// header, on one port; what was asked is told at a second one, always on loopback: GET /stats, /urls, /expected,
// /expected_twice (JSON), POST /reset, POST /quit. Thread rule: start(), stop() and the destructor on one thread; the
// accessors any time between. Runs one thread for each processor, up to 8, and one for the second port. Memory: some
// 10 KB a connection, plus what SampleCounts keeps, plus the search engine's index once it was asked.
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

inline constexpr std::size_t counted_urls_max = 1'000'000;

struct SampleServerOptions {
  SampleWebShape shape;            // its port is set by start(); hosts = 0: only trees
  std::vector<std::string> trees;  // "HOST=DIRECTORY"
  std::string listen_address = "127.0.0.1";
  std::uint16_t listen_port = 0;         // 0: any free one
  std::size_t connections_max = 0;       // open at a time, the oldest idle is closed for another; 0: 8,192
  unsigned failing = 0;                  // of a thousand pages, so many answer 500 to the first request
  std::chrono::milliseconds latency{0};  // before each answer, on top of a slow host's own
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
  std::string stats_json() const;  // what GET /stats gives: sample_counts.h
  // {"ready":true,"port":P,"seeds":[…],"control":"http://127.0.0.1:P2","resolve":["*:P:127.0.0.1"]}
  std::string ready_json() const;

 private:
  struct Impl;
  explicit SampleServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orbweaver::sample
