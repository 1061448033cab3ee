// Bounds the connections to the ring's port that have not shown the ring key yet, in all and from one address: libzmq
// takes whatever comes. Only for ring/zmq_*.cc.
//
// libzmq tells the descriptor of a connection that it has taken, but not which one passed the handshake. So the gate
// keeps a duplicate of each (its number cannot become another file's), asks the kernel how much of what was sent there
// has arrived, and takes who has more than a stranger is ever sent for a peer. Of too many, the oldest of the address
// that has the most is shut down: who comes next has its turn, whoever holds the others. libzmq itself ends a handshake
// that takes longer than five seconds.
//
// Addresses: IPv4 each, IPv6 by /64. Memory: about 200 bytes and one more descriptor for each unknown connection.
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
  ConnectionGate(std::size_t unknown_max, std::size_t unknown_address_max, bool keyed)
      : unknown_max_(unknown_max), address_max_(unknown_address_max), keyed_(keyed) {}
  ~ConnectionGate();
  ConnectionGate(const ConnectionGate&) = delete;
  ConnectionGate& operator=(const ConnectionGate&) = delete;

  void listens_on(std::uint16_t port) { port_ = port; }
  // A connection that libzmq told of; it may have closed it since.
  void accepted(int fd);
  void gone(int fd);
  // Forgets those that have shown the key. Now and then.
  void sweep();
  void close();  // forgets all

  std::size_t unknown() const { return by_age_.size(); }
  std::uint64_t shut() const { return shut_; }  // connections shut down for others

 private:
  struct Unknown {
    int fd;    // libzmq's
    int held;  // the duplicate
    std::string address;
  };
  using Place = std::list<Unknown>::iterator;

  bool is_known(const Unknown& unknown) const;
  void forget(Place place);
  void make_room(const std::string& address);
  const std::string& fullest() const;

  const std::size_t unknown_max_;
  const std::size_t address_max_;
  const bool keyed_;
  std::uint16_t port_ = 0;
  std::uint64_t shut_ = 0;
  std::list<Unknown> by_age_;  // oldest first
  std::map<int, Place> by_fd_;
  std::map<std::string, std::size_t> counts_;  // by address
};

}  // namespace orbweaver::ring
