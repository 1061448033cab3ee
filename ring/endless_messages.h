// Shuts connections to the ring's port that send without ever completing a message. libzmq keeps the parts of a message
// in memory until the last one has arrived, and bounds only the size of each part. Only for ring/zmq_transport.cc.
//
// The kernel counts what each connection has received. At most one message of the largest size can be
// incomplete, plus what the kernel still buffers, plus whole messages that are not read yet. A part costs
// libzmq at least 64 bytes, however short it is. So the bound in memory is about twenty times the bound on the
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
  // libzmq reported this connection, by its descriptor.
  void accepted(int fd);
  void gone(int fd) { connections_.erase(fd); }
  // A whole message arrived on this connection.
  void delivered(int fd);
  // Call it from time to time. `unread`: bytes of whole messages that may wait inside libzmq. Returns how many it shut.
  std::size_t shut_endless(std::uint64_t unread);

 private:
  struct Connection {
    std::string ends;                   // its two addresses: whether the descriptor is still this connection
    std::uint64_t received_before = 0;  // bytes, when its last whole message had arrived
    bool delivered = false;             // since the last check
  };
  std::map<int, Connection> connections_;
};

}  // namespace orbweaver::ring
