// The peer's own small HTTP port, for people and Prometheus on this machine: GET /metrics, /healthz, /status; all else
// is 404. Loopback only: there is no access control, and the pages tell what is crawled. Thread rule: open() and stop()
// by one thread; the callbacks run on the server's threads, several at once, until stop() returns. Bounded: four
// requests at a time, no request body, a connection serves one request.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "node/base.h"

namespace orbweaver {

struct StatusCallbacks {
  std::function<std::string()> metrics_text;  // Prometheus text format 0.0.4
  std::function<std::string()> status_json;
  std::function<bool()> healthy;
};

class StatusServer {
 public:
  StatusServer();
  ~StatusServer();  // stops
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

  // `listen`: "127.0.0.1:9100", "[::1]:9100", "localhost:0" (port 0: any free one), or "off". Errors name the address:
  // invalid_setting when unreadable or not loopback, in_use when another process has the port. Once per object.
  Result<void> open(const std::string& listen, StatusCallbacks callbacks);
  // "127.0.0.1:9100" with the port in use; empty when off.
  const std::string& address() const { return address_; }
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string address_;
};

}  // namespace orbweaver
