// Bounds the connections to the ring's port that have not shown the ring key yet, in total and from one address: libzmq
// accepts every connection. Only for ring/zmq_*.cc.
//
// libzmq reports the descriptor of a connection that it accepted, but not which one passed the handshake. So the gate
// keeps a duplicate of each (its number cannot become another file's), and asks the kernel how many of the bytes sent
// there have arrived. A connection that got more than a stranger is ever sent is a peer's. Of too many, the oldest
// connection of the address with the most is shut down: so newcomers get in, whoever opened the others. libzmq itself
// ends a handshake that takes longer than five seconds.
//
// Addresses: each IPv4 address, IPv6 by /64. Memory: about 200 bytes and one more descriptor per unknown connection.
// Thread rule: the transport's I/O thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace orbweaver::ring {

class ConnectionGate {
 public:
  // `keyed`: peers show a ring key; without one, any ZeroMQ greeting makes a connection known.
  ConnectionGate(std::size_t max_unknown, std::size_t max_unknown_address, bool keyed)
      : max_unknown_(max_unknown), max_address_(max_unknown_address), keyed_(keyed) {}
  ~ConnectionGate();
  ConnectionGate(const ConnectionGate&) = delete;
  ConnectionGate& operator=(const ConnectionGate&) = delete;

  void listens_on(std::uint16_t port) { port_ = port; }
  // libzmq reported this connection; it may have closed it since.
  void accepted(int fd);
  void gone(int fd);
  // Forgets the connections that have shown the key. Call it from time to time.
  void sweep();
  void close();  // forgets all

  std::size_t unknown() const { return by_age_.size(); }
  std::uint64_t shut() const { return shut_; }  // connections shut down to make room

 private:
  struct Unknown {
    int fd;         // libzmq's
    int duplicate;  // of fd: a number that libzmq does not close
    std::string address;
  };
  using Place = std::list<Unknown>::iterator;

  bool is_known(const Unknown& unknown) const;
  void forget(Place place);
  void make_room(const std::string& address);
  const std::string& fullest() const;

  const std::size_t max_unknown_;
  const std::size_t max_address_;
  const bool keyed_;
  std::uint16_t port_ = 0;
  std::uint64_t shut_ = 0;
  std::list<Unknown> by_age_;  // oldest first
  std::map<int, Place> by_fd_;
  std::map<std::string, std::size_t> counts_;  // by address
};

}  // namespace orbweaver::ring
