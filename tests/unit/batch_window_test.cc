// The window of batches that are sent and not answered: its bound, resends, acknowledgements, refusals; records are
// never copied.
#include "node/replication/batch_window.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::below;
using test::peer_id;

class BatchWindowTest : public testing::Test {
 protected:
  ring::Batch add(std::uint64_t sequence, std::string content = "") {
    return window_.add(now_, {.sequence = sequence, .ring_fingerprint = 1, .records = {{3, "a record"}}},
                       std::move(content));
  }
  // Sends due batches again, with this fingerprint.
  std::vector<BatchOut> resend(std::uint64_t fingerprint = 1) {
    std::vector<BatchOut> out;
    window_.resend(
        now_, peer_id(5), [&](ring::Batch& batch) { batch.ring_fingerprint = fingerprint; }, out);
    return out;
  }
  std::vector<std::uint64_t> resent() {
    std::vector<std::uint64_t> sequences;
    for (const BatchOut& out : resend()) sequences.push_back(out.batch.sequence);
    return sequences;
  }

  BatchLimits limits_{.max_records = 3, .max_bytes = 100, .max_in_flight = 2, .timeout = seconds(5)};
  BatchWindow<std::string> window_{limits_};
  Time now_ = test::at_ms(1'000'000);
};

using Sequences = std::vector<std::uint64_t>;

TEST(BatchLimits, TheRecordThatReachesTheBytesIsTheLast) {
  const BatchLimits limits{.max_records = 3, .max_bytes = 100};
  EXPECT_TRUE(limits.has_room(2, 99));
  EXPECT_FALSE(limits.has_room(3, 0));
  EXPECT_FALSE(limits.has_room(1, 100));
}

TEST_F(BatchWindowTest, IsClosedWhileTheBoundIsReached) {
  EXPECT_TRUE(window_.empty() && window_.open(now_));
  add(10);
  EXPECT_TRUE(window_.open(now_));
  add(11);
  EXPECT_FALSE(window_.open(now_) || window_.has_room());
  EXPECT_EQ(window_.size(), 2u);
  ASSERT_TRUE(window_.acknowledged(10));
  EXPECT_TRUE(window_.open(now_));
}

TEST_F(BatchWindowTest, AnAcknowledgementGivesBackTheContentOnce) {
  add(10, "ten");
  add(11, "eleven");
  const auto flight = window_.acknowledged(11);
  ASSERT_TRUE(flight);
  EXPECT_EQ(flight->content, "eleven");
  EXPECT_EQ(flight->batch.sequence, 11u);
  EXPECT_FALSE(window_.acknowledged(11)) << "a second answer finds nothing";
  EXPECT_FALSE(window_.refused(11, now_));
  EXPECT_FALSE(window_.acknowledged(12)) << "nor does one to a batch of another sender";
  EXPECT_TRUE(window_.open(now_)) << "and it makes nobody wait";
  EXPECT_EQ(window_.acknowledged(10)->content, "ten");
  EXPECT_TRUE(window_.empty());
}

TEST(BatchWindow, NarrowsWhenItSendsAgainAndWidensWithEachAcknowledgement) {
  Time now = test::at_ms(1'000'000);
  BatchWindow<std::string> window({.max_in_flight = 8, .timeout = seconds(5)});
  const auto send_again = [&] {
    std::vector<BatchOut> out;
    window.resend(
        now, peer_id(5), [](ring::Batch&) {}, out);
    return out.size();
  };
  std::uint64_t sequence = 0;
  while (window.has_room()) window.add(now, {.sequence = ++sequence}, "");
  EXPECT_EQ(window.size(), 8u);
  EXPECT_EQ(send_again(), 0u);
  EXPECT_EQ(window.width(), 8u) << "nothing was late";
  now += seconds(5);
  EXPECT_EQ(send_again(), 8u);
  EXPECT_EQ(window.width(), 4u) << "eight that are late together count once";
  for (int i = 0; i < 4; ++i) {
    now += seconds(20);
    send_again();
  }
  EXPECT_EQ(window.width(), 1u);
  EXPECT_FALSE(window.has_room());
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(window.acknowledged(i));
  EXPECT_EQ(window.width(), 4u);
  ASSERT_TRUE(window.acknowledged(4) && window.acknowledged(5) && window.acknowledged(6) && window.acknowledged(7));
  ASSERT_TRUE(window.acknowledged(8));
  EXPECT_EQ(window.width(), 8u) << "its bound";
  EXPECT_FALSE(window.acknowledged(8));
  EXPECT_EQ(window.width(), 8u);
}

TEST_F(BatchWindowTest, WithoutAnswerTheSameBatchGoesOutAgainAfterTheTimeout) {
  add(10);
  now_ += seconds(2);
  add(11);
  EXPECT_EQ(window_.next_deadline(), now_ + seconds(3));
  now_ += seconds(3) - milliseconds(1);
  EXPECT_EQ(resent(), Sequences{});
  now_ += milliseconds(1);
  EXPECT_EQ(resent(), Sequences{10});
  EXPECT_EQ(resent(), Sequences{}) << "once";
  EXPECT_EQ(window_.next_deadline(), now_ + seconds(2));
  now_ += seconds(10);
  EXPECT_EQ(resent(), (Sequences{10, 11})) << "in the order in which they were sent first";
  ASSERT_TRUE(window_.acknowledged(10));
  ASSERT_TRUE(window_.acknowledged(11));
  EXPECT_FALSE(window_.next_deadline());
}

TEST_F(BatchWindowTest, EachResendWaitsTwiceAsLongAsTheOneBeforeUpToFourTimeouts) {
  add(10);
  for (const int wait : {5, 10, 20, 20, 20}) {
    EXPECT_EQ(window_.next_deadline(), now_ + seconds(wait));
    now_ += seconds(wait) - milliseconds(1);
    EXPECT_EQ(resent(), Sequences{});
    now_ += milliseconds(1);
    EXPECT_EQ(resent(), Sequences{10});
  }
  add(11);
  EXPECT_EQ(window_.next_deadline(), now_ + seconds(5)) << "another batch begins with the timeout";
}

TEST_F(BatchWindowTest, WhatIsSentAgainHasTheHeadOfToday) {
  add(10);
  now_ += seconds(5);
  const auto out = resend(77);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].to, peer_id(5));
  EXPECT_EQ(out[0].batch.sequence, 10u);
  EXPECT_EQ(out[0].batch.ring_fingerprint, 77u);
  EXPECT_EQ(out[0].batch.records[0].record, "a record");
}

TEST_F(BatchWindowTest, ARefusalTakesTheBatchOutAndClosesTheWindowForAMoment) {
  add(10, "ten");
  const auto flight = window_.refused(10, now_);
  ASSERT_TRUE(flight);
  EXPECT_EQ(flight->content, "ten");
  EXPECT_TRUE(window_.empty() && window_.has_room());
  EXPECT_EQ(window_.not_before(), now_ + ring::refusal_wait);
  EXPECT_FALSE(window_.open(now_));
  now_ += ring::refusal_wait - milliseconds(1);
  EXPECT_FALSE(window_.open(now_));
  now_ += milliseconds(1);
  EXPECT_TRUE(window_.open(now_));
}

TEST_F(BatchWindowTest, ABatchThatFoundNoRoomStaysAndIsSentAgainSoon) {
  add(10, "ten");
  now_ += seconds(1);
  EXPECT_TRUE(window_.pushed_back(10, now_));
  EXPECT_EQ(window_.size(), 1u);
  EXPECT_EQ(window_.next_deadline(), now_ + ring::refusal_wait);
  EXPECT_TRUE(window_.open(now_)) << "it is no refusal: the views agree";
  now_ += ring::refusal_wait - milliseconds(1);
  EXPECT_EQ(resent(), Sequences{});
  now_ += milliseconds(1);
  EXPECT_EQ(resent(), Sequences{10});
  EXPECT_EQ(window_.next_deadline(), now_ + seconds(5)) << "without an answer it has the usual patience";
  EXPECT_TRUE(window_.pushed_back(10, now_));
  EXPECT_EQ(window_.next_deadline(), now_ + 2 * ring::refusal_wait) << "longer each time";
  EXPECT_EQ(window_.acknowledged(10)->content, "ten");
  EXPECT_FALSE(window_.pushed_back(10, now_)) << "it is not in the window";
  EXPECT_FALSE(window_.next_deadline());
}

// Each copy of the batch that waits at a busy receiver is answered. If each answer led to another copy soon, the queue
// there would never be shorter.
TEST_F(BatchWindowTest, ABatchThatFindsNoRoomAgainAndAgainIsSentMoreSeldom) {
  add(10);
  std::size_t sent = 0;
  const Time end = now_ + std::chrono::minutes(10);
  for (; now_ < end; now_ += ring::refusal_wait / 2) {
    if (resent().empty()) continue;
    ++sent;
    EXPECT_TRUE(window_.pushed_back(10, now_));
  }
  EXPECT_GE(sent, 120u) << "a timeout apart at most";
  EXPECT_LE(sent, 130u);
}

TEST(BatchWindow, ABatchThatFoundNoRoomNeverWaitsLongerThanTheTimeoutAtFirst) {
  const Time now = test::at_ms(1'000'000);
  BatchWindow<std::string> window({.timeout = milliseconds(50)});
  window.add(now, {.sequence = 1}, "");
  ASSERT_TRUE(window.pushed_back(1, now));
  EXPECT_EQ(window.next_deadline(), now + milliseconds(50));
}

TEST_F(BatchWindowTest, WhatTheSenderTakesBackIsNotSentAgain) {
  add(10, "wanted");
  add(11, "unwanted");
  const auto unwanted = [](const std::string& content) { return content == "unwanted"; };
  now_ += seconds(5) - milliseconds(1);
  window_.drop_late(now_, unwanted);
  EXPECT_EQ(window_.size(), 2u) << "an answer to it may still come: it counts as in flight";
  now_ += milliseconds(1);
  window_.drop_late(now_, unwanted);
  EXPECT_EQ(resent(), Sequences{10});
  window_.clear();
  now_ += seconds(5);
  EXPECT_EQ(resent(), Sequences{});
  EXPECT_FALSE(window_.acknowledged(10)) << "a late answer finds nothing";
}

// The sender and each message that carries a batch share one list of records.
TEST_F(BatchWindowTest, ABatchThatIsSentAgainSharesItsRecords) {
  const ring::Batch first = add(10);
  now_ += seconds(5);
  const auto again = resend();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(&again[0].batch.records.list(), &first.records.list());
  ring::Message message;
  message.body = again[0].batch;
  EXPECT_EQ(&std::get<ring::Batch>(message.body).records.list(), &first.records.list());
  EXPECT_EQ(&window_.acknowledged(10)->batch.records.list(), &first.records.list());
}

// Against a slow twin: any order of sends, answers, resends and times.
TEST_F(BatchWindowTest, RandomHistoriesAgreeWithATwin) {
  std::mt19937_64 random(1);
  struct Sent {
    Time last;
    Duration patience;
    Duration wait;
  };
  std::map<std::uint64_t, Sent> twin;
  std::uint64_t next = 1;
  for (int step = 0; step < 20'000; ++step) {
    now_ += milliseconds(below(random, 2'000));
    const std::uint64_t some = next - std::min<std::uint64_t>(next, below(random, 6));
    switch (below(random, 5)) {
      case 0:
        if (!window_.has_room()) break;
        add(next, std::to_string(next));
        twin[next++] = {now_, limits_.timeout, ring::refusal_wait};
        break;
      case 1: {
        const auto flight = window_.acknowledged(some);
        ASSERT_EQ(flight.has_value(), twin.erase(some) == 1);
        if (flight) {
          ASSERT_EQ(flight->content, std::to_string(some));
        }
        break;
      }
      case 2:
        ASSERT_EQ(window_.refused(some, now_).has_value(), twin.erase(some) == 1);
        break;
      case 3:
        ASSERT_EQ(window_.pushed_back(some, now_), twin.contains(some));
        if (const auto sent = twin.find(some); sent != twin.end())
          sent->second = {now_, sent->second.wait, std::min(2 * sent->second.wait, limits_.timeout)};
        break;
      default: {
        Sequences late;
        for (auto& [sequence, sent] : twin)
          if (now_ - sent.last >= sent.patience) {
            late.push_back(sequence);
            sent = {now_, std::max(std::min(2 * sent.patience, 4 * limits_.timeout), limits_.timeout), sent.wait};
          }
        ASSERT_EQ(resent(), late);
      }
    }
    ASSERT_EQ(window_.size(), twin.size());
    ASSERT_LE(window_.size(), limits_.max_in_flight);
    std::optional<Time> due;
    for (const auto& [sequence, sent] : twin) due = std::min(due.value_or(Time::max()), sent.last + sent.patience);
    ASSERT_EQ(window_.next_deadline(), due);
  }
}

}  // namespace
}  // namespace orbweaver
