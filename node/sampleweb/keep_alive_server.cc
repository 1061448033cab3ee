#include "node/sampleweb/keep_alive_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace orbweaver::sample {

namespace {

constexpr std::size_t requests_a_connection = 100'000;
constexpr int idle_seconds = 30;     // a connection without a request is closed
constexpr int stop_check_ms = 1000;  // an idle connection notices stop() within this
constexpr int io_timeout_ms = 10'000;
constexpr int backlog = 1024;
constexpr std::size_t flush_bytes = 1 << 20;

bool ready(socket_t fd, short events, int timeout_ms) {
  pollfd poll_fd{fd, events, 0};
  int count = 0;
  do count = ::poll(&poll_fd, 1, timeout_ms);
  while (count < 0 && errno == EINTR);
  return count > 0;
}

// Reads and writes through buffers; the library reads a head byte by byte.
class BufferedStream : public httplib::Stream {
 public:
  explicit BufferedStream(socket_t fd) : fd_(fd) {}

  bool has_buffered() const { return read_ < filled_; }
  bool is_readable() const override { return has_buffered() || ready(fd_, POLLIN, io_timeout_ms); }
  bool is_writable() const override { return ready(fd_, POLLOUT, io_timeout_ms); }

  ssize_t read(char* to, std::size_t size) override {
    if (!has_buffered()) {
      if (!ready(fd_, POLLIN, io_timeout_ms)) return -1;
      const ssize_t got = ::recv(fd_, buffer_.data(), buffer_.size(), 0);
      if (got <= 0) return got;
      read_ = 0;
      filled_ = static_cast<std::size_t>(got);
    }
    const std::size_t count = std::min(size, filled_ - read_);
    std::copy_n(buffer_.data() + read_, count, to);
    read_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* from, std::size_t size) override {
    out_.append(from, size);
    if (out_.size() >= flush_bytes && !flush()) return -1;
    return static_cast<ssize_t>(size);
  }

  bool flush() {
    std::size_t sent = 0;
    while (sent < out_.size()) {
      if (!ready(fd_, POLLOUT, io_timeout_ms)) return false;
      const ssize_t count = ::send(fd_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    out_.clear();
    return true;
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override { name(ip, port, ::getpeername); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { name(ip, port, ::getsockname); }
  socket_t socket() const override { return fd_; }

 private:
  template <class Ask>
  void name(std::string& ip, int& port, Ask ask) const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (ask(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sin_family != AF_INET) return;
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    ip = text.data();
    port = ntohs(address.sin_port);
  }

  socket_t fd_;
  std::array<char, 16384> buffer_{};
  std::size_t read_ = 0;
  std::size_t filled_ = 0;
  std::string out_;
};

}  // namespace

KeepAliveServer::KeepAliveServer() {
  set_connections_max(connections_usual);
  // The library's own options include SO_REUSEPORT, with which two servers would share a port and neither would notice.
  set_socket_options([](socket_t fd) {
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
  set_keep_alive_max_count(requests_a_connection);
  set_keep_alive_timeout(idle_seconds);
}

void KeepAliveServer::set_connections_max(std::size_t connections) {
  new_task_queue = [connections] { return new httplib::ThreadPool(connections); };
}

void KeepAliveServer::deepen_backlog() { ::listen(svr_sock_, backlog); }

bool KeepAliveServer::wait_for_request(socket_t fd) const {
  for (int waited = 0; waited < idle_seconds * 1000; waited += stop_check_ms) {
    if (svr_sock_ == INVALID_SOCKET) return false;
    if (ready(fd, POLLIN, stop_check_ms)) return true;
  }
  return false;
}

bool KeepAliveServer::process_and_close_socket(socket_t fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  BufferedStream stream(fd);
  bool fine = true;
  for (std::size_t left = requests_a_connection; fine && left > 0; --left) {
    if (!stream.has_buffered() && !wait_for_request(fd)) break;
    bool closed = false;
    fine = process_request(stream, left == 1, closed, on_head);
    fine = stream.flush() && fine;
    if (closed) break;
  }
  ::shutdown(fd, SHUT_RDWR);
  ::close(fd);
  return fine;
}

}  // namespace orbweaver::sample
