// What the ZeroMQ transport and its client share: setting the ring key on a socket, and the ZAP handler. Only for
// ring/zmq_*.cc.
#pragma once

#include <optional>
#include <string>
#include <zmq.hpp>

#include "ring/host_port.h"
#include "ring/types.h"

namespace orbweaver::ring {

struct RingKeys {
  std::string secret;  // both empty: no key
  std::string public_key;
  bool empty() const { return secret.empty(); }
};
Result<RingKeys> keys_from(const std::string& ring_secret);

// Limits and timeouts for every socket;
// `address` is what the socket binds or connects to. Names are resolved to IPv4 only.
void set_common_options(zmq::socket_t& socket, const HostPort& address);
void act_as_server(zmq::socket_t& socket, const RingKeys& keys);
void act_as_client(zmq::socket_t& socket, const RingKeys& keys);

// ZAP (RFC 27 of ZeroMQ): libzmq asks it whether to accept a client's public key; it accepts only the ring's own.
// Made before the listening socket is bound; polled by the thread that made it.
class ZapHandler {
 public:
  ZapHandler(zmq::context_t& context, const RingKeys& keys);
  zmq::socket_ref socket() { return socket_; }
  // Answers one question; true when the answer was "no".
  bool answer_one();

 private:
  zmq::socket_t socket_;
  std::string public_key_;  // 32 bytes
};

}  // namespace orbweaver::ring
