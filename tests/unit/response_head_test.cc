// The rules for header lines, one by one, and with random input.
#include "node/http/response_head.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "node/fetch/body_budget.h"

namespace orbweaver {
namespace {

using Verdict = ResponseHead::Verdict;

Verdict take_all(ResponseHead& head, const std::vector<std::string>& lines) {
  Verdict verdict = Verdict::ok;
  for (const std::string& line : lines) verdict = head.take(line);
  return verdict;
}

TEST(ResponseHead, Rfc9112_4_StatusLines) {
  EXPECT_EQ(status_of_line("HTTP/1.1 200 OK\r\n"), 200);
  EXPECT_EQ(status_of_line("HTTP/1.0 404\r\n"), 404);
  EXPECT_EQ(status_of_line("HTTP/2 301 \n"), 301);
  for (const char* line : {"", "HTTP/1.1", "HTTP/1.1 ", "HTTP/ 200", "http/1.1 200 OK", "HTTP/1.1 20 x",
                           "HTTP/1.1 2000 x", "HTTP/1.1 2x0", "HTTP/1.1 -20 x", "ICY 200 OK", "HTTP/1.1200 OK"}) {
    EXPECT_FALSE(status_of_line(line)) << line;
  }
}

TEST(ResponseHead, Rfc9110_15_2_OnlyTheFinalHeadIsKept) {
  ResponseHead head;
  head.reset(1000);
  EXPECT_EQ(take_all(head, {"HTTP/1.1 103 Early\r\n", "Content-Length: 7\r\n", "\r\n"}), Verdict::ok);
  EXPECT_FALSE(head.whole());
  EXPECT_EQ(take_all(head, {"HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n", "\r\n"}), Verdict::ok);
  EXPECT_TRUE(head.whole());
  EXPECT_EQ(head.status(), 200);
  EXPECT_EQ(head.text(), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(head.content_length(), 5u);
}

TEST(ResponseHead, BytesOfInterimHeadsCountToo) {
  ResponseHead head;
  head.reset(100);
  int lines = 0;
  while (take_all(head, {"HTTP/1.1 100 Go\r\n", "\r\n"}) == Verdict::ok) ASSERT_LT(++lines, 100);
  EXPECT_EQ(head.verdict(), Verdict::too_large);
  EXPECT_EQ(lines, 5);  // 19 bytes each
  EXPECT_EQ(head.take("HTTP/1.1 200 OK\r\n"), Verdict::too_large);
}

TEST(ResponseHead, Rfc9112_6_3_ContentLengthsThatDisagree) {
  ResponseHead head;
  for (const char* bad : {"4", "x", "", "5,", "5 5", "+5", "-5", "0x5", "5, 4"}) {
    head.reset(1000);
    EXPECT_EQ(take_all(head, {"HTTP/1.1 200 OK\r\n", "CONTENT-length: 5\r\n",
                              "Content-Length: " + std::string(bad) + "\r\n", "\r\n"}),
              Verdict::bad_length)
        << bad;
  }
  head.reset(1000);
  EXPECT_EQ(take_all(head, {"HTTP/1.1 200 OK\r\n", "Content-Length: 5 , 5\r\n", "Content-Length:5\r\n", "\r\n"}),
            Verdict::ok);
  head.reset(1000);  // Transfer-Encoding decides
  EXPECT_EQ(
      take_all(head, {"HTTP/1.1 200 OK\r\n", "Content-Length: 5, 6\r\n", "transfer-encoding: chunked\r\n", "\r\n"}),
      Verdict::ok);
  EXPECT_FALSE(head.content_length());
}

TEST(ResponseHead, RandomLinesNeverPassTheLimit) {
  std::mt19937 random(7);
  const std::vector<std::string> parts = {
      "HTTP/1.1 ",         "200",  "100", "\r\n", "\n", "Content-Length", ":", " ", "5", ",", std::string(1, '\0'),
      "Transfer-Encoding", "\xff", "\t"};
  for (int round = 0; round < 20000; ++round) {
    ResponseHead head;
    head.reset(120);
    for (int i = 0; i < 12; ++i) {
      std::string line;
      for (unsigned n = static_cast<unsigned>(random() % 8); n > 0; --n) line += parts[random() % parts.size()];
      if (head.take(line) != Verdict::ok) break;
      ASSERT_LE(head.text().size(), 120u);
      ASSERT_TRUE(head.status() == 0 || (head.status() >= 100 && head.status() <= 599));
    }
  }
}

TEST(BodyBudget, TheOldestMayAlwaysTakeAndTheBoundHolds) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const std::size_t longest = 1 + random() % 1000;
    const std::size_t max_bytes = longest + random() % 3000;
    BodyBudget budget(std::make_shared<MemoryShare>(max_bytes));
    budget.expect_body(longest);
    std::vector<std::size_t> bodies(5, 0);  // the front is the oldest
    for (int step = 0; step < 500; ++step) {
      const std::size_t which = random() % bodies.size();
      const std::size_t more = std::min<std::size_t>(random() % 400, longest - bodies[which]);
      if (budget.may_take(more, which == 0)) {
        budget.take(more);
        bodies[which] += more;
      } else {
        ASSERT_NE(which, 0u);
      }
      ASSERT_LE(budget.share().used(), max_bytes);
      if (bodies.front() == longest) {
        budget.give_back(bodies.front());
        bodies.erase(bodies.begin());
        bodies.push_back(0);
      }
    }
  }
}

TEST(BodyBudget, WhatIsHandedOnKeepsItsChargeAndTheOldestWaitsForIt) {
  const auto share = std::make_shared<MemoryShare>(100);
  BodyBudget budget(share);
  budget.expect_body(60);
  ASSERT_TRUE(budget.may_take(60, true));
  budget.take(60);
  MemoryCharge held = budget.hand_on(60);
  EXPECT_EQ(share->used(), 60u);
  EXPECT_FALSE(budget.may_take(60, true));
  EXPECT_TRUE(budget.may_take(40, true));
  EXPECT_FALSE(budget.may_take(1, false));
  int reported = 0;
  share->set_tell([&] { ++reported; });
  share->want_room();
  held.release();
  EXPECT_EQ(reported, 1);
  EXPECT_TRUE(budget.may_take(60, true));
  EXPECT_TRUE(budget.may_take(1000, true)) << "nothing is handed on: one that is larger than all passes alone";
}

}  // namespace
}  // namespace orbweaver
