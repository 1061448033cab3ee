// A peer's HTTP port, for people and programs on this machine: /metrics, /healthz and /status of the peer; the
// dashboard's page, and the view of the ring that it shows; and the control API (routes.h), which alone needs the
// token. Loopback only: the rest shows counts, addresses and hosts to every user of the machine.
//
// A request must name this machine. A page in a local browser whose own name was made to resolve to this machine (DNS
// rebinding) gets 421. Another site's page cannot send the token, as no answer allows it to.
//
// Bounded: 32 connections, of which the oldest is closed for a new one, 8 of them with a stream; heads of 8 KiB and
// bodies of 1 MiB within 5 s; ControlDesk's questions at a time. Thread rule: open() and stop() by one thread;
// HttpPages is called on the threads of the server, the desk and the feed until stop() returns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/control/control_desk.h"
#include "node/control/peer_question.h"
#include "node/control/ring_feed.h"
#include "node/http_server/http_server.h"

namespace orbweaver {

struct HttpPages {
  std::function<std::string()> metrics_text;  // Prometheus text format 0.0.4
  std::function<std::string()> status_json;
  std::function<bool()> healthy;
  std::function<Result<std::string>(const PeerQuestion&)> ask;  // blocks; OwnDoor
  std::string token{};                                          // empty: the control API serves no one
};

class HttpPort {
 public:
  // A name that a request may use in addition to IP addresses and localhost.
  using HostNames = std::vector<std::string>;

  HttpPort(HttpPages pages, HostNames hosts);
  ~HttpPort();  // stops
  HttpPort(const HttpPort&) = delete;
  HttpPort& operator=(const HttpPort&) = delete;

  // `listen`: "127.0.0.1:9100", "[::1]:9100", "localhost:0" (port 0: any free one), or "off". Errors contain the
  // address: invalid_setting when unreadable or not loopback, in_use when another process has the port. Call it once
  // per object.
  Result<void> open(const std::string& listen);
  // "127.0.0.1:9100" with the port in use; empty when off.
  const std::string& address() const { return address_; }
  // After the answers that are under way. What they wait for (HttpPages::ask) should have been told to end.
  void stop();

  // As the server answers.
  HttpAnswer answer(const RequestHead& request);

 private:
  HttpAnswer api_answer(const RequestHead& request);
  HttpAnswer view();
  HttpAnswer stream();

  HttpPages pages_;
  HostNames hosts_;
  RingFeed feed_;
  ControlDesk desk_;
  std::unique_ptr<HttpServer> server_;
  std::string address_;
};

}  // namespace orbweaver
