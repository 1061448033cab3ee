// The HTTP port: what it serves to whom, where it refuses to listen, and that it stops.
#include "node/control/http_port.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/http_client.h"

namespace orbweaver {
namespace {

using testing::HttpClient;

const std::string token(64, 'a');

HttpPages pages(bool healthy = true) {
  return {[] { return std::string("orbweaver_urls_queued 3\n"); }, [] { return std::string("{\"pages\":1}"); },
          [healthy] { return healthy; }, [](const PeerQuestion&) { return Result<std::string>("{}"); }, token};
}

std::uint16_t port_of(const std::string& address) {
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

// The whole answer to `request`, until the server closes.
std::string ask(const std::string& address, const std::string& request, bool nothing_follows = false) {
  HttpClient client(port_of(address));
  if (!client.connected()) return "no connection";
  if (client.send(request) && nothing_follows) client.send_no_more();
  return client.read_all();
}

std::string get(const std::string& address, const std::string& path) {
  return ask(address, "GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n");
}

TEST(HttpPort, ServesMetricsStatusAndHealth) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
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

TEST(HttpPort, UnhealthyIs503) {
  HttpPort server(pages(false), {});
  ASSERT_TRUE(server.open("localhost:0"));
  EXPECT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 503 "));
}

TEST(HttpPort, EverythingElseIs404) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
  for (const char* path : {"/index.html", "/metrics/", "/etc/passwd", "/../../etc/passwd", "/Status"}) {
    EXPECT_TRUE(get(server.address(), path).starts_with("HTTP/1.1 404 ")) << path;
  }
}

// RFC 9110, 15.5.6.
TEST(HttpPort, OnlyGetAndHead) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"}) {
    const std::string answer = ask(
        server.address(), std::string(method) + " /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << method << ": " << answer;
    EXPECT_NE(answer.find("\r\nAllow: GET, HEAD\r\n"), std::string::npos) << answer;
  }
  const std::string head =
      ask(server.address(), "HEAD /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_NE(head.find("\r\nContent-Length: 11\r\n"), std::string::npos) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST(HttpPort, BadRequestsAreSurvived) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
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

TEST(HttpPort, ACallbackThatThrowsIsA500) {
  HttpPages bad = pages();
  bad.status_json = []() -> std::string { throw std::runtime_error("no"); };
  HttpPort server(bad, {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
  EXPECT_TRUE(get(server.address(), "/status").starts_with("HTTP/1.1 500 "));
  EXPECT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 200 "));
}

TEST(HttpPort, PortInUseIsAnErrorThatNamesIt) {
  HttpPort first(pages(), {});
  ASSERT_TRUE(first.open("127.0.0.1:0"));
  HttpPort second(pages(), {});
  const Result<void> taken = second.open(first.address());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::in_use);
  EXPECT_NE(taken.error().message.find(first.address()), std::string::npos) << taken.error().message;
  EXPECT_EQ(second.address(), "");
}

TEST(HttpPort, OnlyLoopbackIsListenedOn) {
  for (const char* listen : {"0.0.0.0:0", "192.0.2.1:9100", "[::]:0", "example.org:9100", "10.0.0.1:0"}) {
    HttpPort server(pages(), {});
    const Result<void> opened = server.open(listen);
    ASSERT_FALSE(opened) << listen;
    EXPECT_EQ(opened.error().code, ErrorCode::invalid_setting) << listen;
    EXPECT_NE(opened.error().message.find(listen), std::string::npos) << opened.error().message;
  }
}

TEST(HttpPort, UnreadableAddressesAreErrors) {
  for (const char* listen : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "::1:80:", "on"}) {
    HttpPort server(pages(), {});
    EXPECT_FALSE(server.open(listen)) << listen;
  }
}

TEST(HttpPort, OffListensNowhere) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("off"));
  EXPECT_EQ(server.address(), "");
  server.stop();
}

TEST(HttpPort, StoppedPortIsFreeAgain) {
  HttpPort first(pages(), {});
  ASSERT_TRUE(first.open("127.0.0.1:0"));
  const std::string address = first.address();
  EXPECT_TRUE(get(address, "/healthz").starts_with("HTTP/1.1 200 "));
  first.stop();
  first.stop();
  EXPECT_FALSE(HttpClient(port_of(address)).connected());
  HttpPort second(pages(), {});
  EXPECT_TRUE(second.open(address));
}

// A page in a browser on this machine, whose name was made to resolve to it (DNS rebinding).
TEST(HttpPort, AnotherHostIsRefused) {
  HttpPort server(pages(), {"crawler.example"});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
  const auto status_for = [&](const std::string& host_line) {
    return ask(server.address(), "GET /status HTTP/1.1\r\nConnection: close\r\n" + host_line + "\r\n").substr(9, 3);
  };
  for (const char* host : {"127.0.0.1", "127.0.0.1:9100", "[::1]", "[::1]:80", "localhost", "LocalHost:1", "192.0.2.7",
                           "crawler.example", "Crawler.Example:9100"})
    EXPECT_EQ(status_for(std::string("Host: ") + host + "\r\n"), "200") << host;
  for (const char* host : {"evil.example", "evil.example:9100", "localhost.evil.example", "127.0.0.1.evil.example", "",
                           "::1", "[::1", "localhost:x", "localhost:99999", "a b", "crawler.example.evil"})
    EXPECT_EQ(status_for(std::string("Host: ") + host + "\r\n"), "421") << host;
  EXPECT_EQ(status_for(""), "400");
  EXPECT_EQ(status_for("Host: localhost\r\nHost: evil.example\r\n"), "400");
  EXPECT_EQ(
      ask(server.address(), "GET http://evil.example/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
          .substr(9, 3),
      "404");
  EXPECT_EQ(ask(server.address(), "GET /healthz HTTP/1.0\r\n\r\n").substr(9, 3), "200");  // a simple health check
}

TEST(HttpPort, RangesAreIgnored) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
  std::string ranges = "bytes=0-";
  for (int i = 0; i < 1000; ++i) ranges += ",0-";
  const std::string answer =
      ask(server.address(),
          "GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nRange: " + ranges + "\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  EXPECT_NE(answer.find("\r\nAccept-Ranges: none\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n{\"pages\":1}")) << answer;
}

std::size_t peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6));
  return 0;
}

// CVE-2025-53628 and similar: endless requests are cut at the limit, and take no memory.
TEST(HttpPort, EndlessRequestsAreCutOff) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
  ASSERT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 200 "));
  const std::size_t before = peak_kib();
  constexpr std::size_t max_sent = 64u << 20;
  struct Attack {
    const char* begin;
    std::string more;
    const char* answer;
  };
  std::string headers;
  for (int i = 0; i < 4000; ++i) headers += "x: yyyyyyyy\r\n";
  std::string chunks;
  for (int i = 0; i < 3000; ++i) chunks += "a\r\n0123456789\r\n";
  const std::vector<Attack> attacks = {
      {"GET /status HTTP/1.1\r\nHost: localhost\r\n", headers, "HTTP/1.1 431 "},
      {"GET /", std::string(50'000, 'a'), "HTTP/1.1 431 "},
      {"GET / HTTP/1.1\r\nHost: ", std::string(50'000, 'a'), "HTTP/1.1 431 "},
      {"POST /status HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", chunks, "HTTP/1.1 411 "},
      {"GET /status HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", chunks, "HTTP/1.1 411 "}};
  for (const Attack& attack : attacks) {
    HttpClient client(port_of(server.address()));
    std::size_t sent = 0;
    bool open = client.send(attack.begin);
    // The answer is read after the first bytes, before a reset could remove it.
    const std::string answer = open && client.send(attack.more) ? client.read_answer() : "";
    EXPECT_TRUE(answer.starts_with(attack.answer)) << attack.begin << ": " << answer;
    for (; open && sent < max_sent; sent += attack.more.size()) open = client.send(attack.more);
    EXPECT_LT(sent, max_sent) << attack.begin;
  }
  EXPECT_LT(peak_kib(), before + (16u << 10));
  EXPECT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 200 "));
}

// Clients that send nothing, or a byte now and then, block no other client, however many they are: once four did.
TEST(HttpPort, DripsKeepNobodyOut) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
  std::vector<HttpClient> drips;
  for (int i = 0; i < 200; ++i) {
    drips.emplace_back(port_of(server.address()));
    drips.back().send("GET /status HTT");
    if (i % 20 == 3) {
      EXPECT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 200 ")) << i;
    }
    for (HttpClient& drip : drips) drip.send("P");
  }
  EXPECT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 200 "));
  // The oldest were closed, the newest is still connected.
  EXPECT_EQ(drips.front().read_all(), "");
  EXPECT_TRUE(drips.back().send("\r\n\r\n"));
  EXPECT_TRUE(drips.back().read_all().starts_with("HTTP/1.1 400 "));
}

// Second review, finding 4: more whole requests at once than there are places; once they were closed unread.
TEST(HttpPort, WhoAskedIsAnsweredHoweverManyComeAtOnce) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
  for (const std::size_t silent : {0u, 20u, 100u}) {
    std::vector<HttpClient> mute;
    for (std::size_t i = 0; i < silent; ++i) mute.emplace_back(port_of(server.address()));
    // All are connected, and stay so, before the first answer is read.
    std::vector<HttpClient> clients;
    for (int i = 0; i < 150; ++i) {
      clients.emplace_back(port_of(server.address()));
      EXPECT_TRUE(clients.back().send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    }
    int answered = 0;
    for (HttpClient& client : clients) answered += client.read_all().starts_with("HTTP/1.1 200 ") ? 1 : 0;
    EXPECT_EQ(answered, 150) << silent << " that say nothing";
  }
}

// Answers that are not read are dropped in favour of clients that read.
TEST(HttpPort, ClientsThatDoNotReadKeepNobodyOut) {
  HttpPages large = pages();
  large.status_json = [] { return std::string(4u << 20, 'x'); };
  HttpPort server(large, {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
  std::vector<HttpClient> deaf;
  for (int i = 0; i < 70; ++i) {
    deaf.emplace_back(port_of(server.address()));
    deaf.back().send("GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  }
  EXPECT_TRUE(get(server.address(), "/healthz").starts_with("HTTP/1.1 200 "));
}

TEST(HttpPort, ManyScrapesAtOnce) {
  HttpPort server(pages(), {});
  ASSERT_TRUE(server.open("127.0.0.1:0"));
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
