// Strangers at the ring's port: how many of them there may be; peers are not strangers.
#include "ring/zmq_gate.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "ring/zmq_transport.h"

namespace orbweaver::ring {
namespace {

using namespace std::chrono_literals;

constexpr auto generous = 20s;  // maximum wait of a test for an expected event

// Asks again and again until the condition holds.
bool eventually(const std::function<bool()>& holds) {
  std::mutex mutex;
  std::condition_variable never;
  const auto until = std::chrono::steady_clock::now() + generous;
  while (std::chrono::steady_clock::now() < until) {
    if (holds()) return true;
    std::unique_lock lock(mutex);
    never.wait_for(lock, 5ms);
  }
  return false;
}

// Sends nothing.
class Stranger {
 public:
  // `from`: the last byte of its own address, 127.0.0.x.
  Stranger(const std::string& address, std::uint32_t from) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl((127u << 24) + from);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    place.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1))));
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  }
  Stranger(Stranger&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Stranger& operator=(Stranger&&) = delete;
  ~Stranger() {
    if (socket_ >= 0) ::close(socket_);
  }
  bool let_in() const {
    char bytes[64];  // the greeting
    ssize_t got = 0;
    do got = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    while (got > 0);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

 private:
  int socket_;
};

std::size_t let_in(const std::vector<Stranger>& strangers) {
  std::size_t count = 0;
  for (const Stranger& stranger : strangers) count += stranger.let_in() ? 1 : 0;
  return count;
}

struct Listener {
  std::mutex mutex;
  std::vector<std::string> messages;  // guarded by mutex
  std::unique_ptr<ZmqTransport> transport;

  explicit Listener(const std::string& key, std::size_t max_unknown = 256, std::size_t max_address = 64) {
    auto opened =
        ZmqTransport::open({"127.0.0.1:0", key, max_unknown, max_address}, [this](std::string bytes, ReplyPath) {
          const std::lock_guard lock(mutex);
          messages.push_back(std::move(bytes));
        });
    if (opened) transport = std::move(*opened);
    EXPECT_NE(transport, nullptr);
  }
  ~Listener() { transport->stop(); }
  bool has(std::size_t count) {
    return eventually([&] {
      const std::lock_guard lock(mutex);
      return messages.size() >= count;
    });
  }
};

TEST(ConnectionGate, StrangersFromOneAddressAreBounded_APeerFromThereGetsIn) {
  const std::string key = make_ring_secret();
  Listener listener(key, 40, 10);
  std::vector<Stranger> strangers;
  for (int i = 0; i < 100; ++i) strangers.emplace_back(listener.transport->listen_address(), 1);
  EXPECT_TRUE(eventually([&] { return listener.transport->stats().shut >= 90; }));
  EXPECT_TRUE(eventually([&] { return let_in(strangers) <= 10; }));
  EXPECT_LE(listener.transport->stats().unknown, 10u);
  EXPECT_TRUE(strangers.back().let_in());  // the oldest are closed
  Listener peer(key);
  ASSERT_TRUE(peer.transport->send(listener.transport->listen_address(), "hello"));
  EXPECT_TRUE(listener.has(1));
}

// The address with most connections makes room: one address cannot keep another out.
TEST(ConnectionGate, StrangersInAllAreBounded_FairlyByAddress) {
  Listener listener(make_ring_secret(), 40, 30);
  std::vector<Stranger> few;
  few.emplace_back(listener.transport->listen_address(), 99);
  std::vector<Stranger> many;
  for (std::uint32_t i = 0; i < 200; ++i) many.emplace_back(listener.transport->listen_address(), 2 + i % 5);
  EXPECT_TRUE(eventually([&] { return listener.transport->stats().shut >= 161; }));
  EXPECT_TRUE(eventually([&] { return let_in(many) <= 39; }));
  EXPECT_EQ(listener.transport->stats().unknown, 40u);
  EXPECT_TRUE(few.back().let_in());
}

TEST(ConnectionGate, PeersAreNoStrangers) {
  for (const std::string& key : {make_ring_secret(), std::string()}) {
    Listener listener(key, 4, 2);
    std::vector<std::unique_ptr<Listener>> peers;
    for (std::size_t i = 1; i <= 12; ++i) {
      peers.push_back(std::make_unique<Listener>(key));
      ASSERT_TRUE(peers.back()->transport->send(listener.transport->listen_address(), "hello"));
      ASSERT_TRUE(listener.has(i));
    }
    // All of them are still connected, and the strangers' places are free.
    EXPECT_EQ(listener.transport->stats().shut, 0u);
    EXPECT_TRUE(eventually([&] { return listener.transport->stats().unknown == 0; }));
    for (const auto& peer : peers) ASSERT_TRUE(peer->transport->send(listener.transport->listen_address(), "again"));
    EXPECT_TRUE(listener.has(24));
    EXPECT_EQ(listener.transport->stats().shut, 0u);
  }
}

// A greeting is not the key.
TEST(ConnectionGate, AnotherRingsPeersStayStrangers) {
  Listener listener(make_ring_secret(), 8, 4);
  std::vector<std::unique_ptr<Listener>> others;
  for (int i = 0; i < 10; ++i) {
    others.push_back(std::make_unique<Listener>(make_ring_secret()));
    ASSERT_TRUE(others.back()->transport->send(listener.transport->listen_address(), "hello"));
  }
  EXPECT_TRUE(eventually([&] { return listener.transport->stats().strangers >= 10; }));
  EXPECT_TRUE(listener.messages.empty());
}

}  // namespace
}  // namespace orbweaver::ring
