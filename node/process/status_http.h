// The peer's own small HTTP port, for people and Prometheus on this machine: GET and HEAD of /metrics, /healthz and
// /status. Other methods get 405, other paths 404. Loopback only: there is no access control, and the pages show what
// is crawled. A request must name this machine. A page in a local browser whose own name was made to resolve to this
// machine (DNS rebinding) gets 421. Thread rule: open() and stop() by one thread; the callbacks run on the server's one
// thread until stop() returns. Bounded: 32 connections, of which the oldest is closed for a new one; per connection one
// request of 8 KiB within 5 s; 10 s for its answer; no body is read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/http_server/http_server.h"

namespace orbweaver {

struct StatusCallbacks {
  std::function<std::string()> metrics_text;  // Prometheus text format 0.0.4
  std::function<std::string()> status_json;
  std::function<bool()> healthy;
};

// The answer to a request to the status port. `hosts`: names that a request may use in addition to IP addresses and
// localhost.
HttpAnswer status_answer(const RequestHead& request, const StatusCallbacks& callbacks,
                         const std::vector<std::string>& hosts);

class StatusServer {
 public:
  StatusServer();
  ~StatusServer();  // stops
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

  // `listen`: "127.0.0.1:9100", "[::1]:9100", "localhost:0" (port 0: any free one), or "off". `hosts`: as above. Errors
  // contain the address: invalid_setting when unreadable or not loopback, in_use when another process has the port.
  // Call it once per object.
  Result<void> open(const std::string& listen, StatusCallbacks callbacks, std::vector<std::string> hosts = {});
  // "127.0.0.1:9100" with the port in use; empty when off.
  const std::string& address() const { return address_; }
  void stop();

 private:
  std::unique_ptr<HttpServer> server_;
  std::string address_;
};

}  // namespace orbweaver
