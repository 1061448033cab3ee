// The shares of the memory for messages that wait to be sent.
#include "ring/send_room.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "ring/zmq_transport.h"

namespace orbweaver::ring {
namespace {

constexpr std::size_t kib = 1024;

TEST(SendRoom, ADestinationHasAsMuchAsIsFree_SoOthersAlwaysHaveRoom) {
  SendRoom room(1000 * kib, 1000 * kib);
  const auto fill = [&](const std::string& to) {
    std::size_t taken = 0;
    while (room.take(to, kib)) ++taken;
    return taken;
  };
  const std::size_t first = fill("first");
  EXPECT_NEAR(static_cast<double>(first), 400, 20) << "half, with what each message costs beside its bytes";
  EXPECT_NEAR(static_cast<double>(fill("second")), 200, 20);
  for (int i = 0; i < 4; ++i) EXPECT_GT(fill("another " + std::to_string(i)), 0u);
  EXPECT_TRUE(room.take("a newcomer", 100));
  EXPECT_LE(room.bytes(), 1000 * kib);
  for (std::size_t i = 0; i < first; ++i) room.give_back("first", kib);
  EXPECT_GT(fill("second"), 0u) << "what is given back is free for others";
}

TEST(SendRoom, ADestinationHasABoundOfItsOwn) {
  SendRoom room(1000 * kib, 10 * kib);
  EXPECT_TRUE(room.take("a", 9 * kib));
  EXPECT_FALSE(room.take("a", 2 * kib));
  EXPECT_TRUE(room.take("b", 2 * kib));
}

TEST(SendRoom, WhatIsLargerThanAllOfItPassesAlone) {
  SendRoom room(10 * kib, 10 * kib);
  EXPECT_TRUE(room.take("a", 50 * kib));
  EXPECT_FALSE(room.take("b", 1)) << "nothing is left";
  room.give_back("a", 50 * kib);
  EXPECT_EQ(room.bytes(), 0u);
  EXPECT_TRUE(room.take("b", 1));
  EXPECT_FALSE(room.take("a", 50 * kib));
}

// Asks again and again until the condition holds; the transport has its own threads.
template <class Holds>
bool eventually(const Holds& holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  return holds();
}

// A client that asks and does not read: the answers that wait for it are bounded in bytes, in ZeroMQ's own pipes too,
// and other clients are answered.
TEST(ZmqTransport, AnswersThatNobodyReadsCostBoundedMemory_AndNobodyElse) {
  constexpr std::size_t max_bytes = 16u << 20;
  std::unique_ptr<ZmqTransport> answerer;
  std::mutex ready;
  std::unique_lock making(ready);
  auto opened = ZmqTransport::open({.listen = "127.0.0.1:0", .ring_secret_key = {}, .max_bytes = max_bytes},
                                   [&](const std::string& question, const ReplyPath& path) {
                                     { const std::lock_guard made(ready); }
                                     answerer->reply(path, std::string(question == "much" ? 1u << 20 : 10, 'x'));
                                   });
  ASSERT_TRUE(opened);
  answerer = std::move(*opened);
  making.unlock();
  zmq::context_t context;
  std::deque<zmq::socket_t> silent;
  for (int i = 0; i < 10; ++i) {
    zmq::socket_t& asks = silent.emplace_back(context, zmq::socket_type::dealer);
    asks.set(zmq::sockopt::linger, 0);
    asks.set(zmq::sockopt::rcvhwm, 1);
    asks.set(zmq::sockopt::rcvbuf, 4096);
    asks.connect("tcp://" + answerer->listen_address());
    for (int question = 0; question < 60; ++question) asks.send(zmq::str_buffer("much"), zmq::send_flags::none);
  }
  ASSERT_TRUE(eventually([&] { return answerer->stats().messages_in == 600; }));
  EXPECT_GT(answerer->stats().refused, 100u);
  EXPECT_LE(answerer->stats().waiting_bytes, max_bytes / 2);
  auto asker = ZmqClient::open(answerer->listen_address(), "");
  ASSERT_TRUE(asker);
  EXPECT_EQ((*asker)->ask("a little", std::chrono::seconds(60)), std::string(10, 'x'));
  // All of it is released when the clients are gone.
  silent.clear();
  EXPECT_TRUE(eventually([&] { return answerer->stats().waiting_bytes == 0; })) << answerer->stats().waiting_bytes;
  answerer->stop();
}

}  // namespace
}  // namespace orbweaver::ring
