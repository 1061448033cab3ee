// An invariant of the contract, watched from outside the peers: requests as the web's servers see them, messages on the
// network, records in the stores. Each has its own file; the world calls them all. Thread rule: one owner (the world).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "node/crawl/events.h"
#include "tests/sim/fake_web.h"

namespace orbweaver::sim {

class World;

enum class RequestKind : std::uint8_t { page, robots };

// One request as its server saw it.
struct Request {
  std::size_t peer = 0;
  std::uint64_t job = 0;
  RequestKind kind = RequestKind::page;
  std::string url;
  std::string host;
  bool elsewhere = false;  // a robots.txt of another host, which redirected here
  Time begun{};
  Time ended{};  // the end of the exchange; earlier after a crash
  Answer answer;
  bool over = false;       // the exchange has ended, and its body is being parsed
  std::size_t record = 0;  // in its peer's archive (archive.h), under durability = power; 0: none yet
};

class Checker {
 public:
  virtual ~Checker() = default;
  virtual std::string_view name() const = 0;
  virtual void request_begun(World&, const Request&) {}
  // The exchange is over; `cut`: the peer crashed or cancelled it.
  virtual void request_ended(World&, const Request&, bool /*cut*/) {}
  // The peer processed the outcome and committed it.
  virtual void committed(World&, const Request&) {}
  // `open`: requests that were begun or answered, but not committed.
  virtual void crashed(World&, std::size_t /*peer*/, const std::vector<Request>& /*open*/) {}
  virtual void stepped(World&, std::size_t /*peer*/) {}
  virtual void message_sent(World&, std::size_t /*from*/, std::size_t /*to*/, const ring::Message&) {}
  virtual void message_arrived(World&, std::size_t /*from*/, std::size_t /*to*/, const ring::Message&) {}
  virtual void owners_changed(World&, std::size_t /*peer*/) {}
  virtual void exited(World&, std::size_t /*peer*/, const Exit&) {}
  // The crawl has ended and nothing happens any more.
  virtual void ended(World&) {}
};

std::vector<std::unique_ptr<Checker>> all_checkers();

}  // namespace orbweaver::sim
