#include "ring/zmq_gate.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>

namespace orbweaver::ring {
namespace {

// What the listening side sends before it has seen the key: a greeting of 64 bytes, WELCOME of 170 (RFC 26 of ZeroMQ),
// and at most an ERROR of 12. READY, which follows the key, has 60 or more. Without keys READY follows the greeting.
constexpr std::uint64_t sent_to_strangers_max = 250;
constexpr std::uint64_t greeting_bytes = 64;

union AnyAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

std::uint16_t port_of(const AnyAddress& address) {
  if (address.any.sa_family == AF_INET) return ntohs(address.v4.sin_port);
  return address.any.sa_family == AF_INET6 ? ntohs(address.v6.sin6_port) : std::uint16_t{0};
}

// IPv4 each, IPv6 by /64: whoever has one address of those has all.
std::string place_of(const AnyAddress& address) {
  const auto bytes = [](const void* from, std::size_t count) {
    return std::string(static_cast<const char*>(from), count);
  };
  if (address.any.sa_family == AF_INET) return bytes(&address.v4.sin_addr, 4);
  const in6_addr& v6 = address.v6.sin6_addr;
  return IN6_IS_ADDR_V4MAPPED(&v6) ? bytes(v6.s6_addr + 12, 4) : bytes(v6.s6_addr, 8);
}

std::optional<AnyAddress> ask(int fd, int (*what)(int, sockaddr*, socklen_t*)) {
  AnyAddress address{};
  socklen_t size = sizeof address;
  if (what(fd, &address.any, &size) != 0) return std::nullopt;
  return address;
}

}  // namespace

ConnectionGate::~ConnectionGate() { close(); }

void ConnectionGate::close() {
  while (!by_age_.empty()) forget(by_age_.begin());
}

void ConnectionGate::accepted(int fd) {
  gone(fd);  // the number has had another connection, if any
  const int held = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (held < 0) {
    // None is free: the oldest makes room, and this one is left to libzmq's own five seconds.
    if (errno == EMFILE && !by_age_.empty()) make_room(by_age_.front().address);
    return;
  }
  // Between libzmq's word and now the number may have become anything else.
  const auto here = ask(held, ::getsockname);
  const auto there = ask(held, ::getpeername);
  if (!here || !there || port_of(*here) != port_) {
    ::close(held);
    return;
  }
  const std::string address = place_of(*there);
  by_age_.push_back({fd, held, address});
  by_fd_[fd] = std::prev(by_age_.end());
  const std::size_t of_address = ++counts_[address];
  if (of_address > address_max_) make_room(address);
  if (by_age_.size() > unknown_max_) make_room(fullest());
}

void ConnectionGate::gone(int fd) {
  if (const auto found = by_fd_.find(fd); found != by_fd_.end()) forget(found->second);
}

void ConnectionGate::sweep() {
  for (auto at = by_age_.begin(); at != by_age_.end();) {
    const auto next = std::next(at);
    if (is_known(*at)) forget(at);
    at = next;
  }
}

bool ConnectionGate::is_known(const Unknown& unknown) const {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(unknown.held, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return info.tcpi_bytes_acked > (keyed_ ? sent_to_strangers_max : greeting_bytes);
}

void ConnectionGate::forget(Place place) {
  ::close(place->held);
  by_fd_.erase(place->fd);
  const auto count = counts_.find(place->address);
  if (--count->second == 0) counts_.erase(count);
  by_age_.erase(place);
}

// Of an address that has some, the oldest that is a peer's is forgotten or the oldest that is not is shut down.
void ConnectionGate::make_room(const std::string& address) {
  const auto oldest =
      std::find_if(by_age_.begin(), by_age_.end(), [&](const Unknown& unknown) { return unknown.address == address; });
  if (!is_known(*oldest)) {
    ++shut_;
    // A reset when libzmq closes it, which it does at once: no port of ours stays behind in TIME-WAIT.
    const linger now{1, 0};
    ::setsockopt(oldest->held, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::shutdown(oldest->held, SHUT_RDWR);
  }
  forget(oldest);
}

const std::string& ConnectionGate::fullest() const {
  return std::max_element(counts_.begin(), counts_.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace orbweaver::ring
