#include "ring/endless_messages.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "ring/messages.h"

namespace orbweaver::ring {
namespace {

// Room for frame heads, CURVE's nonces and commands.
constexpr std::uint64_t max_overhead = 1u << 20;

// Both addresses of a connection; nothing when it is not a TCP/IP connection.
std::optional<std::string> ends_of(int fd) {
  std::string ends;
  for (int (*which)(int, sockaddr*, socklen_t*) : {&::getsockname, &::getpeername}) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (which(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
    ends.append(reinterpret_cast<const char*>(&address), size);
  }
  return ends;
}

// The bytes that libzmq has taken from the kernel.
std::optional<std::uint64_t> received(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  int unread = 0;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || ::ioctl(fd, SIOCINQ, &unread) != 0)
    return std::nullopt;
  const auto waiting = static_cast<std::uint64_t>(unread);
  return info.tcpi_bytes_received > waiting ? info.tcpi_bytes_received - waiting : 0;
}

// libzmq may close the descriptor at any time, and another file may get its number.
// So only a duplicate that is still this connection is shut down.
bool shut(int fd, const std::string& ends) {
  const int duplicate = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) return false;
  const bool same = ends_of(duplicate) == ends;
  if (same) {
    const linger now{1, 0};
    ::setsockopt(duplicate, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::shutdown(duplicate, SHUT_RDWR);
  }
  ::close(duplicate);
  return same;
}

}  // namespace

void EndlessMessages::accepted(int fd) {
  connections_.erase(fd);
  if (auto ends = ends_of(fd)) connections_[fd].ends = std::move(*ends);
}

void EndlessMessages::delivered(int fd) {
  if (const auto found = connections_.find(fd); found != connections_.end()) found->second.delivered = true;
}

std::size_t EndlessMessages::shut_endless(std::uint64_t unread) {
  std::size_t shut_now = 0;
  for (auto at = connections_.begin(); at != connections_.end();) {
    auto& [fd, connection] = *at;
    const std::optional<std::uint64_t> bytes = received(fd);
    if (bytes && std::exchange(connection.delivered, false)) connection.received_before = *bytes;
    const std::uint64_t open = bytes ? *bytes - std::min(*bytes, connection.received_before) : 0;
    const bool endless = open > max_message_bytes + max_overhead + unread;
    if (endless && shut(fd, connection.ends)) ++shut_now;
    at = endless || !bytes ? connections_.erase(at) : std::next(at);
  }
  return shut_now;
}

}  // namespace orbweaver::ring
