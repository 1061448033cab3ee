// Shuts connections to the ring's port that send without ever completing a message: libzmq keeps the parts of a message
// in memory until the last one has come, and bounds only the size of each part. Only for ring/zmq_transport.cc.
//
// The kernel counts what each connection has received. Of that, no more than one message of the largest can be without
// its end, in addition to what the kernel itself still holds and whole messages that nobody has read yet. What a part
// costs libzmq is 64 bytes and more, however short it is, so the bound in memory is some twenty times the one on the
// wire.
//
// Thread rule: the transport's I/O thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace orbweaver::ring {

class EndlessMessages {
 public:
  // A connection that libzmq told of, by its descriptor.
  void accepted(int fd);
  void gone(int fd) { connections_.erase(fd); }
  // A whole message came by it.
  void delivered(int fd);
  // Now and then. `unread`: of whole messages that may wait inside libzmq. How many connections were shut.
  std::size_t shut_endless(std::uint64_t unread);

 private:
  struct Connection {
    std::string ends;                   // its two addresses: whether the descriptor is still the same connection
    std::uint64_t received_before = 0;  // bytes, when its last whole message had come
    bool delivered = false;             // since the last look
  };
  std::map<int, Connection> connections_;
};

}  // namespace orbweaver::ring
