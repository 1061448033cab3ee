// How bytes get to a peer. The simulator and the tests have their own; the real one is ring/zmq_transport.h.
#pragma once

#include <functional>
#include <string>

#include "ring/types.h"

namespace orbweaver::ring {

// Where an answer to one received message goes: opaque, cheap to copy. Empty: nowhere.
struct ReplyPath {
  std::string route;
};

class Transport {
 public:
  // Runs on the transport's own thread and must not block for long (it puts the bytes into the loop's bounded queue).
  using OnMessage = std::function<void(std::string bytes, ReplyPath reply)>;
  virtual ~Transport() = default;
  // False: the queue to that address is full, or the address cannot be used; nothing was sent. Never blocks.
  // True means "handed to the network", not "arrived".
  virtual bool send(const std::string& address, std::string bytes) = 0;
  // The next message to that address travels on a new connection: what the old one still carried may be lost. For a
  // peer that was down and is back: TCP may hold a connection from before a network split for seconds, and lose what is
  // sent on it. Never blocks; nothing happens where there is no connection.
  virtual void begin_anew(const std::string& address) = 0;
  // Answers a received message on the same connection. False as above.
  virtual bool reply(const ReplyPath& path, std::string bytes) = 0;
};

}  // namespace orbweaver::ring
