// Ends of TCP connections for the tests of the transport, on loopback.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orbweaver::testing {

// A plain TCP connection to a peer.
class RawClient {
 public:
  explicit RawClient(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~RawClient() {
    if (socket_ >= 0) ::close(socket_);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  // The other end learns at once that the connection is over (RST), whatever it has not read.
  void reset() {
    const linger at_once{1, 0};
    EXPECT_EQ(::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    ::close(std::exchange(socket_, -1));
  }
  std::string read(std::size_t count) {
    std::string bytes(count, '\0');
    EXPECT_EQ(::recv(socket_, bytes.data(), count, MSG_WAITALL), static_cast<ssize_t>(count));
    return bytes;
  }
  void write(std::string_view bytes) { EXPECT_GE(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), -1); }

 private:
  int socket_;
};

// A listening socket that never accepts: the kernel completes the connection, and no bytes follow.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    socklen_t size = sizeof at;
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  const std::string& address() const { return address_; }

 private:
  int socket_;
  std::string address_;
};

// A listener that speaks ZMTP as a peer does, by hand: each connection shakes hands, and what comes after that is read
// only when the test asks for it.
class ZmtpServer {
 public:
  ZmtpServer() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    socklen_t size = sizeof at;
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  ~ZmtpServer() {
    for (const int connection : connections_) ::close(connection);
    ::close(listener_);
  }
  ZmtpServer(const ZmtpServer&) = delete;
  ZmtpServer& operator=(const ZmtpServer&) = delete;
  const std::string& address() const { return address_; }
  // The next connection, after its handshake; -1 when none comes.
  int accept() {
    pollfd coming{listener_, POLLIN, 0};
    if (::poll(&coming, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) != 1) return -1;
    const int connection = ::accept(listener_, nullptr, nullptr);
    connections_.push_back(connection);
    write(connection, std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03", 11) + '\0' + "NULL" + std::string(48, '\0'));
    read(connection, 64);
    write(connection, std::string("\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06"
                                  "ROUTER",
                                  30));
    frame(connection);  // its READY
    return connection;
  }
  // The next short frame.
  static std::string frame(int connection) {
    return read(connection, static_cast<std::uint8_t>(read(connection, 2)[1]));
  }

 private:
  static constexpr std::chrono::seconds patience{20};

  static std::string read(int connection, std::size_t count) {
    std::string bytes(count, '\0');
    EXPECT_EQ(::recv(connection, bytes.data(), count, MSG_WAITALL), static_cast<ssize_t>(count));
    return bytes;
  }
  static void write(int connection, std::string_view bytes) {
    EXPECT_EQ(::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  int listener_;
  std::string address_;
  std::vector<int> connections_;
};

}  // namespace orbweaver::testing
