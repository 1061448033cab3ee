// The real transport on loopback sockets: trust, bounds, and strangers.
#include "ring/zmq_transport.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "ring/codec.h"
#include "tests/unit/tcp_ends.h"

namespace orbweaver::ring {
namespace {

using testing::RawClient;
using testing::SilentServer;
using testing::ZmtpServer;

using namespace std::chrono_literals;

constexpr auto generous = 20s;  // maximum wait of a test for an expected event

// The messages that a transport received.
class Inbox {
 public:
  Transport::OnMessage sink() {
    return [this](std::string bytes, ReplyPath reply) {
      const std::lock_guard lock(mutex_);
      ++count_;
      messages_.emplace_back(std::move(bytes), std::move(reply));
      changed_.notify_all();
    };
  }
  // The next message; a failed test when none comes.
  std::pair<std::string, ReplyPath> next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, generous, [this] { return !messages_.empty(); })) {
      ADD_FAILURE() << "no message came";
      return {};
    }
    auto message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  bool wait_for_count(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, generous, [&] { return count_ >= count; });
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, ReplyPath>> messages_;
  std::size_t count_ = 0;
};

// For events without a callback: asks again and again until the condition holds.
bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds patience = generous) {
  std::mutex mutex;
  std::condition_variable never;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    if (holds()) return true;
    std::unique_lock lock(mutex);
    never.wait_for(lock, 5ms);
  }
  return false;
}

struct Peer {
  Inbox inbox;
  std::unique_ptr<ZmqTransport> transport;

  explicit Peer(const std::string& key = {}, const std::string& listen = "127.0.0.1:0") {
    auto opened = ZmqTransport::open({listen, key}, inbox.sink());
    if (opened) {
      transport = std::move(*opened);
    } else {
      ADD_FAILURE() << opened.error().message;
    }
  }
  ~Peer() {
    if (transport) transport->stop();  // before the inbox goes
  }
  std::string address() const { return transport->listen_address(); }
};

std::string error_of(const std::string& listen, const std::string& key) {
  auto opened = ZmqTransport::open({listen, key}, [](std::string, ReplyPath) {});
  return opened ? "opened" : opened.error().message;
}

// An address on which no process listens (any more).
std::string dead_address() { return SilentServer().address(); }

TEST(ZmqTransport, AMessageArrives_AndItsAnswerComesBackOnTheSameConnection) {
  Peer asker;
  Peer answerer;
  const std::string question("a\0b\xff", 4);
  ASSERT_TRUE(asker.transport->send(answerer.address(), question));
  const auto [bytes, path] = answerer.inbox.next();
  EXPECT_EQ(bytes, question);
  ASSERT_FALSE(path.route.empty());
  ASSERT_TRUE(answerer.transport->reply(path, "answer"));
  const auto [answer, no_path] = asker.inbox.next();
  EXPECT_EQ(answer, "answer");
  EXPECT_TRUE(no_path.route.empty());
  const TransportStats asked = asker.transport->stats();
  EXPECT_EQ(asked.messages_out, 1u);
  EXPECT_EQ(asked.bytes_out, 4u);
  EXPECT_EQ(asked.messages_in, 1u);
  EXPECT_EQ(asked.bytes_in, 6u);
  EXPECT_EQ(asked.connections, 1u);
  EXPECT_EQ(asked.refused + asked.unroutable + asked.malformed + asked.strangers, 0u);
}

TEST(ZmqTransport, TheLargestMessageArrives_ALargerOneIsRefused) {
  for (const std::string& key : {std::string(), make_ring_secret()}) {
    Peer from(key);
    Peer to(key);
    std::string large(max_message_bytes, 'x');
    large.back() = 'y';
    EXPECT_FALSE(from.transport->send(to.address(), large + 'z'));
    EXPECT_EQ(from.transport->stats().refused, 1u);
    ASSERT_TRUE(from.transport->send(to.address(), large));
    EXPECT_TRUE(to.inbox.next().first == large);
  }
}

TEST(ZmqTransport, ManyMessagesArriveInOrder_WhenTheSenderHeedsNo) {
  Peer from;
  Peer to;
  constexpr std::size_t count = 20000;
  for (std::size_t i = 0; i < count; ++i) {
    if (from.transport->send(to.address(), std::to_string(i))) continue;
    ASSERT_TRUE(eventually([&] { return from.transport->send(to.address(), std::to_string(i)); }));
  }
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to.inbox.next().first, std::to_string(i));
  EXPECT_EQ(from.transport->stats().unroutable, 0u);
}

TEST(ZmqTransport, Ipv6) {
  if (error_of("[::1]:0", "") != "opened") GTEST_SKIP() << "no IPv6 on this machine";
  Peer from({}, "[::1]:0");
  Peer to({}, "[::1]:0");
  EXPECT_EQ(to.address().substr(0, 6), "[::1]:");
  ASSERT_TRUE(from.transport->send(to.address(), "over six"));
  EXPECT_EQ(to.inbox.next().first, "over six");
}

TEST(ZmqTransport, Localhost_IsTheIpv4Loopback) {
  Peer to({}, "localhost:0");
  EXPECT_EQ(to.address().substr(0, 10), "127.0.0.1:");
  Peer from;
  ASSERT_TRUE(from.transport->send("localhost:" + to.address().substr(10), "by name"));
  EXPECT_EQ(to.inbox.next().first, "by name");
}

TEST(ZmqTransport, APortInUseIsNamedWithTheMend) {
  Peer first;
  const std::string error = error_of(first.address(), "");
  EXPECT_NE(error.find(first.address()), std::string::npos) << error;
  EXPECT_NE(error.find("in use"), std::string::npos) << error;
  EXPECT_NE(error.find("--listen"), std::string::npos) << error;
}

TEST(ZmqTransport, WithoutAKeyOnlyLoopback) {
  for (const char* listen : {"0.0.0.0:0", "[::]:0", "192.0.2.1:7400", "peer.example:7400"}) {
    const std::string error = error_of(listen, "");
    EXPECT_NE(error.find(listen), std::string::npos) << error;
    EXPECT_NE(error.find("--ring-key-file"), std::string::npos) << error;
    EXPECT_NE(error.find("`orbweaver ring-key`"), std::string::npos) << error;
  }
  EXPECT_EQ(error_of("127.0.0.2:0", ""), "opened");
  EXPECT_EQ(error_of("0.0.0.0:0", make_ring_secret()), "opened");
}

TEST(ZmqTransport, WhatCannotBeListenedOnSaysSo) {
  for (const char* listen :
       {"", "7400", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:7x", ":7400", "[::1:7400"}) {
    EXPECT_NE(error_of(listen, "").find("ADDR:PORT"), std::string::npos) << listen;
  }
  const std::string error = error_of("192.0.2.1:7400", make_ring_secret());
  EXPECT_NE(error.find("192.0.2.1:7400: it is not a numeric address of this machine"), std::string::npos) << error;
}

TEST(ZmqTransport, ABadKeySaysSo) {
  for (const std::string& key : {std::string("short"), std::string(41, 'a'), std::string(39, 'a') + "\x7f"}) {
    EXPECT_NE(error_of("127.0.0.1:0", key).find("ring key"), std::string::npos);
  }
  EXPECT_EQ(make_ring_secret().size(), 40u);
  EXPECT_NE(make_ring_secret(), make_ring_secret());
}

TEST(ZmqTransport, AddressesThatCannotBeOnesAreRefused) {
  Peer peer;
  for (const char* address :
       {"", "x", "127.0.0.1:0", "127.0.0.1:65536", "a b:1", "[::1:5", "tcp://a:1", "a;b:1", ":1", "*:1"}) {
    EXPECT_FALSE(peer.transport->send(address, "x")) << address;
  }
  EXPECT_EQ(peer.transport->stats().refused, 10u);
  EXPECT_FALSE(peer.transport->reply({}, "x"));
}

TEST(ZmqTransport, Curve_PeersWithTheKeyTalk) {
  const std::string key = make_ring_secret();
  Peer from(key);
  Peer to(key);
  ASSERT_TRUE(from.transport->send(to.address(), "secret"));
  const auto [bytes, path] = to.inbox.next();
  EXPECT_EQ(bytes, "secret");
  ASSERT_TRUE(to.transport->reply(path, "answer"));
  EXPECT_EQ(from.inbox.next().first, "answer");
  EXPECT_EQ(to.transport->stats().strangers, 0u);
}

TEST(ZmqTransport, Curve_AnotherKeyOrNoneIsNotLetIn) {
  const std::string key = make_ring_secret();
  Peer to(key);
  for (const std::string& other : {make_ring_secret(), std::string()}) {
    const std::uint64_t before = to.transport->stats().strangers;
    Peer from(other);
    ASSERT_TRUE(from.transport->send(to.address(), "let me in"));
    EXPECT_TRUE(eventually([&] { return to.transport->stats().strangers > before; }));
  }
  Peer keyless;
  Peer keyed(key);
  ASSERT_TRUE(keyed.transport->send(keyless.address(), "in the clear?"));
  EXPECT_TRUE(eventually([&] { return keyless.transport->stats().strangers > 0; }));
  ASSERT_TRUE(keyed.transport->send(to.address(), "a friend"));
  EXPECT_EQ(to.inbox.next().first, "a friend");
  EXPECT_EQ(to.inbox.count(), 1u);
  EXPECT_EQ(keyless.inbox.count(), 0u);
}

TEST(ZmqTransport, Zap_WhoKnowsOnlyThePublicKeyIsNotLetIn) {
  const std::string key = make_ring_secret();
  Peer to(key);
  std::array<char, 41> ring_public{};
  ASSERT_EQ(zmq_curve_public(ring_public.data(), key.c_str()), 0);
  std::array<char, 41> own_public{};
  std::array<char, 41> own_secret{};
  ASSERT_EQ(zmq_curve_keypair(own_public.data(), own_secret.data()), 0);
  zmq::context_t context;
  zmq::socket_t dealer(context, zmq::socket_type::dealer);
  dealer.set(zmq::sockopt::linger, 0);
  dealer.set(zmq::sockopt::curve_serverkey, ring_public.data());
  dealer.set(zmq::sockopt::curve_publickey, own_public.data());
  dealer.set(zmq::sockopt::curve_secretkey, own_secret.data());
  dealer.connect("tcp://" + to.address());
  dealer.send(zmq::str_buffer("let me in"), zmq::send_flags::dontwait);
  EXPECT_TRUE(eventually([&] { return to.transport->stats().strangers > 0; }));
  EXPECT_EQ(to.inbox.count(), 0u);
}

TEST(ZmqTransport, ADeadPeerCostsBoundedMemory_AndNobodyElse) {
  Peer from;
  Peer other;
  const std::string dead = dead_address();
  std::size_t taken = 0;
  while (from.transport->send(dead, "x")) ASSERT_LE(++taken, ZmqTransport::max_queued_messages);
  EXPECT_EQ(taken, ZmqTransport::max_queued_messages);
  const std::string dead_too = dead_address();
  taken = 0;
  while (from.transport->send(dead_too, std::string(1u << 20, 'x')))
    ASSERT_LE(++taken, ZmqTransport::max_queued_bytes >> 20);
  EXPECT_EQ(taken, (ZmqTransport::max_queued_bytes >> 20) - 1);  // including the cost of each apart from its bytes
  EXPECT_EQ(from.transport->stats().refused, 2u);
  ASSERT_TRUE(from.transport->send(other.address(), "still here"));
  EXPECT_EQ(other.inbox.next().first, "still here");
}

TEST(ZmqTransport, APeerThatAcceptsAndSaysNothingCostsBoundedMemory) {
  Peer from;
  SilentServer silent;
  std::size_t taken = 0;
  const auto full = [&] {
    while (from.transport->send(silent.address(), std::string(1u << 20, 'x'))) ++taken;
    return from.transport->stats().refused > 20;
  };
  EXPECT_TRUE(eventually(full));
  EXPECT_LT(taken, ZmqTransport::max_queued_bytes >> 20);
}

TEST(ZmqTransport, TheTotalOverAllAddressesIsBounded) {
  Peer from;
  std::size_t taken = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string dead = dead_address();
    while (from.transport->send(dead, std::string(4u << 20, 'x'))) ++taken;
  }
  const std::size_t most = ZmqTransport::max_queued_bytes_total / 2 / (4u << 20);
  EXPECT_LT(taken, most);
  EXPECT_GT(taken, most * 3 / 4);
  EXPECT_LE(from.transport->stats().waiting_bytes, ZmqTransport::max_queued_bytes_total / 2);
  EXPECT_TRUE(from.transport->send(dead_address(), "a ping")) << "the dead do not silence it";
}

TEST(ZmqTransport, WhatWaitsArrivesWhenThePeerComes) {
  Peer from;
  const std::string address = dead_address();
  ASSERT_TRUE(from.transport->send(address, "early"));
  Peer to({}, address);
  EXPECT_EQ(to.inbox.next().first, "early");
}

TEST(ZmqTransport, ARestartedPeerIsFoundAgain) {
  Peer from;
  auto first = std::make_unique<Peer>();
  const std::string address = first->address();
  ASSERT_TRUE(from.transport->send(address, "one"));
  EXPECT_EQ(first->inbox.next().first, "one");
  first.reset();
  Peer second({}, address);
  // One or more may be lost with the old connection; the sender must repeat.
  EXPECT_TRUE(eventually([&] { return from.transport->send(address, "two") && second.inbox.count() > 0; }));
}

TEST(ZmqTransport, BeginAnew_TheNextMessageTravelsOnANewConnection) {
  ZmtpServer to;
  Peer from;
  from.transport->begin_anew(to.address());  // nothing to begin anew
  ASSERT_TRUE(from.transport->send(to.address(), "one"));
  const int before = to.accept();
  ASSERT_GE(before, 0);
  EXPECT_EQ(ZmtpServer::frame(before), "one");
  from.transport->begin_anew(to.address());  // the connection from before stays open at the other end, and is silent
  ASSERT_TRUE(from.transport->send(to.address(), "two"));
  const int anew = to.accept();
  ASSERT_GE(anew, 0);
  EXPECT_EQ(ZmtpServer::frame(anew), "two");
  EXPECT_EQ(from.transport->stats().connections, 1u);
}

TEST(ZmqTransport, AnAnswerToWhoIsGoneIsCountedAndDropped) {
  Peer answerer;
  ReplyPath path;
  {
    Peer asker;
    ASSERT_TRUE(asker.transport->send(answerer.address(), "question"));
    path = answerer.inbox.next().second;
  }
  EXPECT_TRUE(eventually([&] {
    answerer.transport->reply(path, "too late");
    return answerer.transport->stats().unroutable > 0;
  }));
  EXPECT_TRUE(answerer.transport->reply({"no such route"}, "x"));
}

TEST(ZmqTransport, GarbageFromPlainTcpDisturbsNobody) {
  for (const std::string& key : {std::string(), make_ring_secret()}) {
    Peer to(key);
    std::mt19937 random(1);
    const std::string greeting =
        std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03", 11) + '\0' + "NULL" + std::string(48, '\0');
    std::deque<RawClient> open;
    for (int i = 0; i < 60; ++i) {
      RawClient& client = open.emplace_back(to.address());
      std::string noise(random() % 3000, '\0');
      for (char& c : noise) c = static_cast<char>(random());
      if (i % 4 == 0) client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      if (i % 4 == 1) client.write(greeting.substr(0, random() % greeting.size()));
      if (i % 4 == 2) client.write(greeting);
      if (i % 4 != 1) client.write(noise);
      // A frame that claims 2^63 bytes, after a handshake that passes without a key.
      if (i % 8 == 2)
        client.write(
            std::string("\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06"
                        "DEALER\x02\x7f\xff\xff\xff\xff\xff\xff\xff",
                        36));
    }
    Peer from(key);
    ASSERT_TRUE(from.transport->send(to.address(), "hello"));
    // Without a key libzmq treats the noise as ZMTP 1.0, which has no handshake: messages that the codec refuses.
    std::string bytes = to.inbox.next().first;
    for (int i = 0; key.empty() && bytes != "hello" && i < 10000; ++i) {
      EXPECT_FALSE(decode(bytes));
      bytes = to.inbox.next().first;
    }
    EXPECT_EQ(bytes, "hello");
    if (key.empty()) continue;
    EXPECT_TRUE(eventually([&] { return to.transport->stats().strangers > 10; }));
    EXPECT_EQ(to.inbox.count(), 1u);
  }
}

// libzmq 4.3.4 stops reading a connection when receive_high_water of its messages wait. When such a connection broke,
// the next heartbeat failed an assertion of libzmq: the process died (tests/chaos sigstop).
TEST(ZmqTransport, AConnectionThatBreaksWhileItsMessagesWaitKillsNobody) {
  std::promise<void> read_on;
  const std::shared_future<void> may_read = read_on.get_future().share();
  std::atomic<int> taken{0};
  std::atomic<int> hellos{0};
  auto to = ZmqTransport::open({"127.0.0.1:0", ""}, [&](const std::string& bytes, const ReplyPath&) {
    ++(bytes == "hello" ? hellos : taken);
    may_read.wait();
  });
  ASSERT_TRUE(to);
  RawClient client((*to)->listen_address());
  client.write(std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03", 11) + '\0' + "NULL" + std::string(48, '\0'));
  client.read(64);
  client.write(
      std::string("\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06"
                  "DEALER",
                  30));
  client.read(static_cast<std::uint8_t>(client.read(2)[1]));  // its READY: messages sent before it are ignored
  for (int i = 0; i < 100; ++i) client.write(std::string("\0\x04word", 6));
  ASSERT_TRUE(eventually([&] { return taken > 0; }));
  EXPECT_FALSE(eventually([&] { return taken > 1; }, 500ms));  // libzmq has read up to its limit, and reads no more
  client.reset();
  EXPECT_FALSE(eventually([&] { return taken > 1; }, 6s));  // longer than the time between two heartbeats
  read_on.set_value();
  Peer from;
  ASSERT_TRUE(from.transport->send((*to)->listen_address(), "hello"));
  EXPECT_TRUE(eventually([&] { return hellos > 0; }));
  (*to)->stop();
}

TEST(ZmqTransport, OtherZeroMqPatternsDisturbNobody) {
  Peer to;
  zmq::context_t context;
  std::deque<zmq::socket_t> sockets;
  for (const auto type : {zmq::socket_type::pub, zmq::socket_type::push, zmq::socket_type::pair, zmq::socket_type::req,
                          zmq::socket_type::dealer, zmq::socket_type::router}) {
    zmq::socket_t& socket = sockets.emplace_back(context, type);
    socket.set(zmq::sockopt::linger, 0);
    socket.connect("tcp://" + to.address());
    if (type == zmq::socket_type::router) continue;
    socket.send(zmq::str_buffer("first"), zmq::send_flags::sndmore | zmq::send_flags::dontwait);
    for (int i = 0; i < 5; ++i)
      socket.send(zmq::str_buffer("more"), zmq::send_flags::sndmore | zmq::send_flags::dontwait);
    socket.send(zmq::str_buffer("last"), zmq::send_flags::dontwait);
  }
  EXPECT_TRUE(eventually([&] { return to.transport->stats().malformed >= 2; }));  // the DEALER's and the REQ's
  Peer from;
  ASSERT_TRUE(from.transport->send(to.address(), "hello"));
  EXPECT_EQ(to.inbox.next().first, "hello");
  EXPECT_EQ(to.inbox.count(), 1u);
}

TEST(ZmqTransport, StopEndsAllAndMayBeRepeated) {
  Peer from;
  Peer to;
  ASSERT_TRUE(from.transport->send(to.address(), "x"));
  EXPECT_EQ(to.inbox.next().first, "x");
  ASSERT_TRUE(from.transport->send(to.address(), "the last word"));
  from.transport->stop();
  from.transport->stop();
  EXPECT_EQ(to.inbox.next().first, "the last word");
  EXPECT_FALSE(from.transport->send(to.address(), "x"));
  EXPECT_FALSE(from.transport->reply({"route"}, "x"));
  Peer again({}, from.address());  // the port is free
}

TEST(ZmqTransport, ThreadsMaySendAtOnce) {
  Peer from;
  Peer to;
  std::deque<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) eventually([&] { return from.transport->send(to.address(), "x"); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(to.inbox.wait_for_count(2000));
}

// Answers every question; with `late_first` every question but the first.
class ZmqClientTest : public ::testing::Test {
 protected:
  void serve(const std::string& key, bool late_first = false) {
    // The lock is needed because a question may arrive before open() has returned.
    const std::lock_guard opening(mutex_);
    auto opened = ZmqTransport::open({"127.0.0.1:0", key}, [this, late_first](std::string bytes, ReplyPath reply) {
      const std::lock_guard lock(mutex_);
      if (late_first && held_.empty()) {
        held_ = bytes;
        return;
      }
      transport_->reply(reply, "answer to " + bytes);
    });
    ASSERT_TRUE(opened);
    transport_ = std::move(*opened);
  }
  void TearDown() override {
    if (transport_) transport_->stop();
  }
  std::mutex mutex_;
  std::unique_ptr<ZmqTransport> transport_;
  std::string held_;
};

TEST_F(ZmqClientTest, AsksAndIsAnswered) {
  for (const std::string& key : {std::string(), make_ring_secret()}) {
    if (transport_) transport_->stop();
    serve(key);
    auto client = ZmqClient::open(transport_->listen_address(), key);
    ASSERT_TRUE(client);
    EXPECT_EQ((*client)->ask("one", generous).value_or("none"), "answer to one");
    EXPECT_EQ((*client)->ask("two", generous).value_or("none"), "answer to two");
  }
}

TEST_F(ZmqClientTest, TellsNobodyThereFromNoAnswerFromWrongKey) {
  auto nobody = ZmqClient::open(dead_address(), "");
  ASSERT_TRUE(nobody);
  EXPECT_NE((*nobody)->ask("x", 200ms).error().message.find("is a peer running there?"), std::string::npos);

  serve(make_ring_secret());
  for (const std::string& key : {make_ring_secret(), std::string()}) {
    auto stranger = ZmqClient::open(transport_->listen_address(), key);
    ASSERT_TRUE(stranger);
    const auto refused = (*stranger)->ask("x", generous);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("--ring-key-file"), std::string::npos) << refused.error().message;
  }
  Inbox mute;
  auto silent = ZmqTransport::open({"127.0.0.1:0", ""}, mute.sink());
  auto waiting = ZmqClient::open((*silent)->listen_address(), "");
  const auto late = (*waiting)->ask("x", 500ms);
  (*silent)->stop();
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("no answer from"), std::string::npos) << late.error().message;
}

TEST_F(ZmqClientTest, AfterATimeOutTheNextQuestionGetsItsOwnAnswer) {
  serve("", true);
  auto client = ZmqClient::open(transport_->listen_address(), "");
  EXPECT_FALSE((*client)->ask("one", 300ms));
  EXPECT_EQ((*client)->ask("two", generous).value_or("none"), "answer to two");
}

TEST_F(ZmqClientTest, BadAddressesAndKeysSaySo) {
  EXPECT_NE(ZmqClient::open("nonsense", "").error().message.find("HOST:PORT"), std::string::npos);
  EXPECT_NE(ZmqClient::open("127.0.0.1:0", "").error().message.find("HOST:PORT"), std::string::npos);
  EXPECT_NE(ZmqClient::open("127.0.0.1:7400", "bad").error().message.find("ring key"), std::string::npos);
}

}  // namespace
}  // namespace orbweaver::ring
