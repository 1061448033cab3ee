// The status port: what it serves, where it refuses to listen, and that it stops.
#include "node/run/status_http.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace orbweaver {
namespace {

StatusCallbacks callbacks(bool healthy = true) {
  return {[] { return std::string("orbweaver_urls_queued 3\n"); }, [] { return std::string("{\"pages\":1}"); },
          [healthy] { return healthy; }};
}

int connect_to(const std::string& address) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0) return fd;
  ::close(fd);
  return -1;
}

// The whole answer to `request`, until the server closes.
std::string ask(const std::string& address, const std::string& request, bool nothing_follows = false) {
  const int fd = connect_to(address);
  if (fd < 0) return "no connection";
  std::string answer;
  char chunk[4096];
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    if (nothing_follows) ::shutdown(fd, SHUT_WR);
    for (ssize_t got = 0; (got = ::recv(fd, chunk, sizeof chunk, 0)) > 0;)
      answer.append(chunk, static_cast<std::size_t>(got));
  }
  ::close(fd);
  return answer;
}

std::string get(const std::string& address, const std::string& path) {
  return ask(address, "GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n");
}

TEST(StatusServer, ServesMetricsStatusAndHealth) {
  StatusServer server;
  ASSERT_TRUE(server.open("127.0.0.1:0", callbacks()));
  ASSERT_TRUE(server.address().starts_with("127.0.0.1:"));
  const std::string metrics = get(server.address(), "/metrics");
  EXPECT_TRUE(metrics.starts_with("HTTP/1.1 200 ")) << metrics;
  EXPECT_NE(metrics.find("Content-Type: text/plain; version=0.0.4\r\n"), std::string::npos) << metrics;
  EXPECT_TRUE(metrics.ends_with("\r\n\r\norbweaver_urls_queued 3\n")) << metrics;
  const std::string status = get(server.address(), "/status");
  EXPECT_NE(status.find("Content-Type: application/json\r\n"), std::string::npos) << status;
  EXPECT_TRUE(status.ends_with("\r\n\r\n{\"pages\":1}"));
  const std::string health = get(server.address(), "/healthz");
  EXPECT_TRUE(health.starts_with("HTTP/1.1 200 ")) << health;
  EXPECT_TRUE(health.ends_with("\r\n\r\nok\n"));
}

TEST(StatusServer, UnhealthyIs503) {
  StatusServer server;
  ASSERT_TRUE(server.open("localhost:0", callbacks(false)));
  EXPECT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 503 "));
}

TEST(StatusServer, EverythingElseIs404) {
  StatusServer server;
  ASSERT_TRUE(server.open("127.0.0.1:0", callbacks()));
  for (const char* path : {"/", "/metrics/", "/etc/passwd", "/../../etc/passwd", "/Status"}) {
    EXPECT_TRUE(get(server.address(), path).starts_with("HTTP/1.1 404 ")) << path;
  }
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    const std::string answer =
        ask(server.address(), std::string(method) + " /status HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 404 ")) << method << ": " << answer;
  }
}

TEST(StatusServer, BadRequestsAreSurvived) {
  StatusServer server;
  ASSERT_TRUE(server.open("127.0.0.1:0", callbacks()));
  const std::vector<std::string> requests = {"\r\n\r\n",
                                             "GET\r\n\r\n",
                                             std::string(100000, 'A') + "\r\n\r\n",
                                             "GET /" + std::string(100000, 'a') + " HTTP/1.1\r\n\r\n",
                                             "POST /status HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nxx",
                                             std::string("GET /\0 HTTP/1.1\r\n\r\n", 19)};
  for (const std::string& request : requests) {
    EXPECT_EQ(ask(server.address(), request, true).find("HTTP/1.1 200"), std::string::npos) << request.substr(0, 40);
    EXPECT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 200 "));
  }
}

TEST(StatusServer, ACallbackThatThrowsIsA500) {
  StatusServer server;
  StatusCallbacks bad = callbacks();
  bad.status_json = []() -> std::string { throw std::runtime_error("no"); };
  ASSERT_TRUE(server.open("127.0.0.1:0", bad));
  EXPECT_TRUE(get(server.address(), "/status").starts_with("HTTP/1.1 500 "));
  EXPECT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 200 "));
}

TEST(StatusServer, PortInUseIsAnErrorThatNamesIt) {
  StatusServer first;
  ASSERT_TRUE(first.open("127.0.0.1:0", callbacks()));
  StatusServer second;
  const Result<void> taken = second.open(first.address(), callbacks());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::in_use);
  EXPECT_NE(taken.error().message.find(first.address()), std::string::npos) << taken.error().message;
  EXPECT_EQ(second.address(), "");
}

TEST(StatusServer, OnlyLoopbackIsListenedOn) {
  for (const char* listen : {"0.0.0.0:0", "192.0.2.1:9100", "[::]:0", "example.org:9100", "10.0.0.1:0"}) {
    StatusServer server;
    const Result<void> opened = server.open(listen, callbacks());
    ASSERT_FALSE(opened) << listen;
    EXPECT_EQ(opened.error().code, ErrorCode::invalid_setting) << listen;
    EXPECT_NE(opened.error().message.find(listen), std::string::npos) << opened.error().message;
  }
}

TEST(StatusServer, UnreadableAddressesAreErrors) {
  for (const char* listen : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "::1:80:", "on"}) {
    StatusServer server;
    EXPECT_FALSE(server.open(listen, callbacks())) << listen;
  }
}

TEST(StatusServer, OffListensNowhere) {
  StatusServer server;
  ASSERT_TRUE(server.open("off", callbacks()));
  EXPECT_EQ(server.address(), "");
  server.stop();
}

TEST(StatusServer, StoppedPortIsFreeAgain) {
  StatusServer first;
  ASSERT_TRUE(first.open("127.0.0.1:0", callbacks()));
  const std::string address = first.address();
  EXPECT_TRUE(get(address, "/healthz").starts_with("HTTP/1.1 200 "));
  first.stop();
  first.stop();
  EXPECT_EQ(connect_to(address), -1);
  StatusServer second;
  EXPECT_TRUE(second.open(address, callbacks()));
}

TEST(StatusServer, ManyScrapesAtOnce) {
  StatusServer server;
  ASSERT_TRUE(server.open("127.0.0.1:0", callbacks()));
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10; ++j) good += get(server.address(), "/metrics").starts_with("HTTP/1.1 200 ") ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 40);
}

}  // namespace
}  // namespace orbweaver
