// A client for tests that speaks raw HTTP to 127.0.0.1.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace orbweaver::testing {

// A connection that the destructor closes.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(port);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0) return;
    ::close(fd_);
    fd_ = -1;
  }
  HttpClient(HttpClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)), rest_(std::move(other.rest_)) {}
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool connected() const { return fd_ >= 0; }
  // False once the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void send_no_more() { ::shutdown(fd_, SHUT_WR); }
  // All bytes until the server closes.
  std::string read_all() {
    while (read_some()) {
    }
    return std::exchange(rest_, {});
  }
  // Up to the first `text`; all that came when the server closes before.
  std::string read_until(std::string_view text) {
    while (rest_.find(text) == std::string::npos && read_some()) {
    }
    const std::size_t found = rest_.find(text);
    const std::size_t end = found == std::string::npos ? rest_.size() : found + text.size();
    std::string read = rest_.substr(0, end);
    rest_.erase(0, end);
    return read;
  }
  // One answer to a GET, by its Content-Length; only a part of it when the server closes early.
  std::string read_answer() {
    for (;;) {
      if (const auto size = answer_bytes(); size && rest_.size() >= *size) {
        std::string answer = rest_.substr(0, *size);
        rest_.erase(0, *size);
        return answer;
      }
      if (!read_some()) return std::exchange(rest_, {});
    }
  }

 private:
  bool read_some() {
    char chunk[16384];
    const ssize_t got = ::recv(fd_, chunk, sizeof chunk, 0);
    if (got > 0) rest_.append(chunk, static_cast<std::size_t>(got));
    return got > 0;
  }
  std::optional<std::size_t> answer_bytes() const {
    const std::size_t end = rest_.find("\r\n\r\n");
    if (end == std::string::npos) return std::nullopt;
    constexpr std::string_view name = "Content-Length: ";
    const std::size_t field = rest_.find(name);
    return end + 4 + (field < end ? std::stoul(rest_.substr(field + name.size())) : 0);
  }

  int fd_;
  std::string rest_;
};

inline std::string body_of(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace orbweaver::testing
