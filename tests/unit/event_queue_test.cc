// The two lanes of a peer's queue of events.
#include "node/process/event_queue.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

constexpr std::uint64_t room = 16 << 20;

MessageEvent message(ring::Body body) {
  MessageEvent event;
  event.message.body = std::move(body);
  return event;
}
bool holds_batch(const Event& event) {
  const auto* arrived = std::get_if<MessageEvent>(&event);
  return arrived != nullptr && std::holds_alternative<ring::Batch>(arrived->message.body);
}
bool holds_ping(const Event& event) {
  const auto* arrived = std::get_if<MessageEvent>(&event);
  return arrived != nullptr && std::holds_alternative<ring::Ping>(arrived->message.body);
}

TEST(EventQueue, AProbeGoesBeforeAllThatWaits) {
  EventQueue queue(room);
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(queue.push_message(message(ring::Batch{}), 100));
  queue.push(TickEvent{});
  ASSERT_TRUE(queue.push_message(message(ring::Ping{}), 100));
  std::deque<Event> taken = queue.wait({});
  EXPECT_TRUE(holds_ping(taken.front()));
  EXPECT_EQ(taken.size(), 1 + EventQueue::max_taken);
}

TEST(EventQueue, AProbeThatComesLaterWaitsForNoMoreThanWasTaken) {
  EventQueue queue(room);
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(queue.push_message(message(ring::Batch{}), 100));
  EXPECT_EQ(queue.wait({}).size(), EventQueue::max_taken);
  ASSERT_TRUE(queue.push_message(message(ring::PingAck{}), 100));
  EXPECT_FALSE(holds_batch(queue.wait({}).front()));
}

TEST(EventQueue, AFullQueueStillTakesProbes) {
  EventQueue queue(room);
  int batches = 0;
  while (queue.push_message(message(ring::Batch{}), 100)) ++batches;
  EXPECT_EQ(static_cast<std::size_t>(batches), EventQueue::max_messages);
  EXPECT_EQ(queue.dropped(), 1u);
  EXPECT_TRUE(queue.push_message(message(ring::PingRequest{}), 100));

  EventQueue narrow(room);
  ASSERT_TRUE(narrow.push_message(message(ring::Batch{}), room));
  EXPECT_FALSE(narrow.push_message(message(ring::Batch{}), 1));
  EXPECT_TRUE(narrow.push_message(message(ring::Ping{}), 100));
}

TEST(EventQueue, ProbesAreBoundedToo) {
  EventQueue queue(room);
  std::size_t pings = 0;
  while (queue.push_message(message(ring::Ping{}), 100)) ++pings;
  EXPECT_EQ(pings, EventQueue::max_probes);
  EventQueue narrow(room);
  ASSERT_TRUE(narrow.push_message(message(ring::Ping{}), room / 16));
  EXPECT_FALSE(narrow.push_message(message(ring::Ping{}), 1));
}

TEST(EventQueue, TheRestKeepsItsOrder) {
  EventQueue queue(room);
  for (std::uint64_t i = 0; i < 200; ++i) {
    if (i % 3 == 0) {
      queue.push(TickEvent{});
    } else {
      ASSERT_TRUE(queue.push_message(message(ring::BatchAck{i}), 10));
    }
  }
  std::uint64_t i = 0;
  for (std::deque<Event> taken = queue.wait({}); !taken.empty(); taken = queue.wait({})) {
    for (const Event& event : taken) {
      if (i % 3 == 0) {
        EXPECT_TRUE(std::holds_alternative<TickEvent>(event));
      } else {
        EXPECT_EQ(std::get<ring::BatchAck>(std::get<MessageEvent>(event).message.body).sequence, i);
      }
      ++i;
    }
  }
  EXPECT_EQ(i, 200u);
}

TEST(EventQueue, MemoryCountsUntilTheEventsAreHandled) {
  EventQueue queue(room);
  ASSERT_TRUE(queue.push_message(message(ring::Batch{}), room));
  EXPECT_EQ(queue.wait({}).size(), 1u);
  EXPECT_EQ(queue.message_bytes(), room);
  EXPECT_FALSE(queue.push_message(message(ring::Batch{}), 1));
  queue.handled();
  EXPECT_EQ(queue.message_bytes(), 0u);
  EXPECT_TRUE(queue.push_message(message(ring::Batch{}), 1));
}

}  // namespace
}  // namespace orbweaver
