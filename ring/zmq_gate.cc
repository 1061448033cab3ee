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
// at most an ERROR of 12. READY, which follows the key, has 60 or more bytes. Without keys READY follows the greeting.
constexpr std::uint64_t max_sent_to_strangers = 250;
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

// Each IPv4 address, IPv6 by /64: a machine with one address of a /64 has all of them.
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
  gone(fd);  // another connection may have had this number before
  const int duplicate = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) {
    // No descriptor is free: the oldest makes room. This connection is left to libzmq's own limit of five seconds.
    if (errno == EMFILE && !by_age_.empty()) make_room(by_age_.front().address);
    return;
  }
  // Since libzmq's report the number may have become any other file.
  const auto here = ask(duplicate, ::getsockname);
  const auto there = ask(duplicate, ::getpeername);
  if (!here || !there || port_of(*here) != port_) {
    ::close(duplicate);
    return;
  }
  const std::string address = place_of(*there);
  by_age_.push_back({fd, duplicate, address});
  by_fd_[fd] = std::prev(by_age_.end());
  const std::size_t of_address = ++counts_[address];
  if (of_address > max_address_) make_room(address);
  if (by_age_.size() > max_unknown_) make_room(fullest());
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
  if (::getsockopt(unknown.duplicate, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return info.tcpi_bytes_acked > (keyed_ ? max_sent_to_strangers : greeting_bytes);
}

void ConnectionGate::forget(Place place) {
  ::close(place->duplicate);
  by_fd_.erase(place->fd);
  const auto count = counts_.find(place->address);
  if (--count->second == 0) counts_.erase(count);
  by_age_.erase(place);
}

// For an address that has connections: the oldest is forgotten when it is a peer's, else shut down.
void ConnectionGate::make_room(const std::string& address) {
  const auto oldest =
      std::find_if(by_age_.begin(), by_age_.end(), [&](const Unknown& unknown) { return unknown.address == address; });
  if (!is_known(*oldest)) {
    ++shut_;
    // A reset when libzmq closes it, which it does at once: none of our ports stays behind in TIME-WAIT.
    const linger now{1, 0};
    ::setsockopt(oldest->duplicate, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::shutdown(oldest->duplicate, SHUT_RDWR);
  }
  forget(oldest);
}

const std::string& ConnectionGate::fullest() const {
  return std::max_element(counts_.begin(), counts_.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace orbweaver::ring
