// Up to when everything has its copies: node/replication/copied_until.h, docs/decisions/0026-after-a-restart.md.
#include "node/replication/copied_until.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Time start{hours{480'000}};

// All of the outbox and of the copies is safe.
std::optional<std::string> move(CopiedUntil& copied, Time now, Time open) {
  copied.move(now, open, UINT64_MAX, UINT64_MAX);
  return copied.take_row();
}

storage::UrlRecord own(Time fetched) {
  return {.state = storage::UrlState::fetched, .since = fetched, .url = "http://a.example/", .fetched_here = true};
}

storage::UrlRecord of_another(Time fetched) {
  storage::UrlRecord page = own(fetched);
  page.fetched_here = false;
  return page;
}

// Of a peer that fetched its last page an hour after `until`.
std::string row_of(Time until) {
  CopiedUntil writer;
  EXPECT_TRUE(writer.note_fetched(until + hours{1}));
  return move(writer, until, until + Duration{1}).value_or("nothing");
}

TEST(CopiedUntil, ANewPeerLacksNothing) {
  const CopiedUntil copied;
  EXPECT_TRUE(copied.settled());
  EXPECT_FALSE(copied.lacks(own(start)));
  EXPECT_FALSE(copied.next_deadline());
}

TEST(CopiedUntil, AfterARestartPagesFetchedSinceTheRowLackCopies) {
  CopiedUntil copied;
  ASSERT_TRUE(copied.restore(row_of(start), start + seconds{60}));
  EXPECT_FALSE(copied.settled());
  EXPECT_FALSE(copied.lacks(own(start)));
  EXPECT_TRUE(copied.lacks(own(start + Duration{1})));
  EXPECT_FALSE(copied.lacks(own(start + hours{2}))) << "fetched by another peer, or known to wait";
  EXPECT_TRUE(copied.next_deadline());
}

// Seeds 62 and 4977 of the simulator: the one that fetched it died, and it was fetched again.
TEST(CopiedUntil, WhatAnotherPeerFetchedHadItsLinksOnTwoDisksWhenItCame) {
  CopiedUntil copied;
  ASSERT_TRUE(copied.restore(row_of(start), start + seconds{60}));
  EXPECT_FALSE(copied.lacks(of_another(start + Duration{1})));
  copied.note_alone(start + seconds{61});
  EXPECT_TRUE(copied.lacks(of_another(start + Duration{1}))) << "those two may be gone for good";
}

TEST(CopiedUntil, WithoutARowAllLack) {
  CopiedUntil copied;
  ASSERT_TRUE(copied.restore("", start));
  EXPECT_TRUE(copied.lacks(of_another(start)));
  EXPECT_TRUE(copied.lacks(own(start - hours{10'000})));
}

TEST(CopiedUntil, ItSettlesWhenItMovesBeyondTheStart) {
  CopiedUntil copied;
  ASSERT_TRUE(copied.restore(row_of(start), start + seconds{60}));
  EXPECT_TRUE(move(copied, start + seconds{61}, start + seconds{30}))
      << "a page is in flight that ended before the start";
  EXPECT_FALSE(copied.settled());
  EXPECT_FALSE(copied.lacks(own(start + seconds{20})));
  EXPECT_TRUE(copied.lacks(own(start + seconds{30})));
  EXPECT_TRUE(move(copied, start + seconds{62}, start + seconds{62}));
  EXPECT_TRUE(copied.settled());
  EXPECT_FALSE(copied.lacks(own(start + seconds{90})));
}

TEST(CopiedUntil, WhileThereAreCopiesItMovesNotBackAndItWritesOnlyWhatIsNew) {
  CopiedUntil copied;
  EXPECT_TRUE(move(copied, start, start));
  EXPECT_FALSE(copied.due(start));
  EXPECT_TRUE(copied.due(start + seconds{1}));
  EXPECT_FALSE(move(copied, start + seconds{1}, start)) << "the same page is open";
  EXPECT_FALSE(move(copied, start + seconds{2}, start - seconds{5}));
}

// Seed 1107 of the simulator: pages that others fetched after this peer's start went back to their holder as queued.
TEST(CopiedUntil, WhatIsFetchedAfterTheLastPageOfTheEarlierProcessLacksNothing) {
  CopiedUntil earlier;
  EXPECT_TRUE(move(earlier, start, start));
  EXPECT_TRUE(earlier.note_fetched(start - seconds{1}));
  const auto row = earlier.note_fetched(start + seconds{5});
  ASSERT_TRUE(row);
  EXPECT_FALSE(earlier.note_fetched(start + seconds{6})) << "it was allowed for";
  EXPECT_FALSE(earlier.lacks(own(start + seconds{5}))) << "settled";
  for (const Time now : {start + seconds{60}, start - hours{1}}) {
    CopiedUntil copied;
    ASSERT_TRUE(copied.restore(*row, now));
    EXPECT_TRUE(copied.lacks(own(start + seconds{6})));
    EXPECT_FALSE(copied.lacks(own(start + seconds{7})));
    copied.note_unsent(start + seconds{70}, 1, 1);
    EXPECT_TRUE(copied.lacks(own(start + seconds{70}))) << "it was given up before it left";
  }
}

// What an earlier process fetched has its copies since; only this one's pages are allowed for from now on.
TEST(CopiedUntil, WhenAllIsSettledTheRowAllowsForThisProcessAlone) {
  CopiedUntil copied;
  ASSERT_TRUE(copied.restore("", start));
  EXPECT_TRUE(copied.lacks(own(Time::max())));
  const auto row = move(copied, start + seconds{1}, start + seconds{2});
  ASSERT_TRUE(row);
  ASSERT_TRUE(copied.settled());
  CopiedUntil next;
  ASSERT_TRUE(next.restore(*row, start + seconds{9}));
  EXPECT_FALSE(next.lacks(own(start + seconds{5})));
}

TEST(CopiedUntil, AClockSetBackMakesMorePagesLackNotFewer) {
  CopiedUntil copied;
  ASSERT_TRUE(copied.restore(row_of(start), start - hours{1}));
  EXPECT_FALSE(copied.lacks(own(start + hours{2}))) << "the earlier process fetched nothing then";
  EXPECT_TRUE(copied.lacks(own(start - hours{1}))) << "fetched after the restart, by the clock that went back";
  EXPECT_TRUE(copied.lacks(own(start - seconds{1})));
  EXPECT_FALSE(copied.lacks(own(start - hours{2})));
}

// Those that kept the copies may have left for good.
TEST(CopiedUntil, APeerThatIsLeftAloneHasNoCopiesOfAnyPage) {
  CopiedUntil copied;
  EXPECT_TRUE(move(copied, start, start));
  copied.note_alone(start + seconds{5});
  EXPECT_FALSE(copied.settled());
  EXPECT_TRUE(copied.lacks(own(start + seconds{5})));
  EXPECT_TRUE(copied.lacks(own(start - seconds{5})));
  EXPECT_TRUE(copied.due(start + seconds{5})) << "the row promises too much";
  copied.wait(start + seconds{5});
  const auto row = copied.take_row();
  ASSERT_TRUE(row);
  CopiedUntil next;
  ASSERT_TRUE(next.restore(*row, start + seconds{6}));
  EXPECT_TRUE(next.lacks(own(start - seconds{5})));
  copied.note_alone(start + seconds{6});
  EXPECT_FALSE(copied.take_row()) << "it is written already";
  EXPECT_TRUE(move(copied, start + seconds{7}, start + seconds{7}));
  EXPECT_TRUE(copied.settled());
}

TEST(CopiedUntil, WhoFetchesAloneSettlesOnceTheLinksOfItsPagesAreWithTheirOwners) {
  CopiedUntil copied;
  EXPECT_TRUE(move(copied, start, start));
  copied.note_alone(start, 5);
  copied.move(start + seconds{1}, Time::max(), 4, UINT64_MAX);
  EXPECT_FALSE(copied.settled());
  copied.move(start + seconds{2}, Time::max(), 5, UINT64_MAX);
  EXPECT_TRUE(copied.settled());
}

// F12: it goes to others as queued until its links are safe, and then it is filled.
TEST(CopiedUntil, AnOutcomeThatWasGivenUpUnsettlesUntilItsLinksAreSafe) {
  CopiedUntil copied;
  EXPECT_TRUE(move(copied, start, start));
  copied.note_unsent(start + seconds{5}, 10, 20);
  copied.note_unsent(start + seconds{6}, 12, 19);
  EXPECT_TRUE(copied.any_unsent());
  EXPECT_FALSE(copied.settled());
  for (const auto& [outbox, items] : {std::pair{11, 20}, std::pair{12, 19}}) {
    copied.move(start + seconds{7}, start + seconds{7}, static_cast<std::uint64_t>(outbox),
                static_cast<std::uint64_t>(items));
    EXPECT_TRUE(copied.lacks(own(start + seconds{5})));
    EXPECT_FALSE(copied.lacks(own(start + seconds{4})));
    EXPECT_TRUE(copied.any_unsent());
  }
  copied.move(start + seconds{8}, start + seconds{8}, 12, 20);
  EXPECT_TRUE(copied.settled());
  EXPECT_FALSE(copied.any_unsent());
}

TEST(CopiedUntil, ARowOfAnotherSizeIsAnErrorAndAllLack) {
  CopiedUntil copied;
  const Result<void> read = copied.restore("seven b", start);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("7 bytes"), std::string::npos);
  EXPECT_TRUE(copied.lacks(own(start - seconds{1})));
}

}  // namespace
}  // namespace orbweaver
