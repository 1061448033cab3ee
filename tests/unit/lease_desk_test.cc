// Leases of hosts between peers, under partition_by = url: what the asker sends for each step of a lease, and how the
// owner of the host's digest answers.
#include "node/scheduling/lease_desk.h"

#include <gtest/gtest.h>

#include <chrono>

#include "ring/md5.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

using std::chrono::seconds;

class LeaseDeskTest : public testing::Test {
 protected:
  void SetUp() override {
    rig_.add_member(2, ring::MemberState::active);
    rig_.enter();
    // One host for each owner.
    for (int number = 0; own_.empty() || foreign_.empty(); ++number) {
      const std::string name = "h" + std::to_string(number) + ".test";
      const View& view = rig_.members.view();
      (view.owns(ring::partition_of(ring::md5(name), view.partitions())) ? own_ : foreign_) = name;
    }
    since_.owners_changed(rig_.members.view(), rig_.now);
    host_.name = foreign_;
    host_.key.host.fill(7);
  }
  std::vector<ring::LeaseRequest> sent() {
    rig_.clear();
    desk_.send(rig_.step(), rig_id(1));
    return rig_.sent<ring::LeaseRequest>();
  }
  ring::LeaseAsk sent_ask() {
    const std::vector<ring::LeaseRequest> requests = sent();
    EXPECT_EQ(requests.size(), 1u);
    return requests.size() == 1 && requests[0].asks.size() == 1 ? requests[0].asks[0] : ring::LeaseAsk{};
  }
  std::vector<ring::LeaseAnswer> answers_to(std::vector<ring::LeaseAsk> asks, std::uint8_t from = 2) {
    rig_.clear();
    desk_.on_request(rig_.step(), rig_id(from), {std::move(asks)}, {"route"});
    return rig_.sent<ring::LeaseAnswer>();
  }
  static ring::LeaseAsk ask_for(const std::string& host, ring::LeaseAction action) {
    return {.id = 5, .action = action, .host = ring::md5(host), .delay = 1'000'000};
  }

  PeerRig rig_;
  std::string own_, foreign_;
  BenchHost host_;
  OwnedSince since_{true};
  RisingNumber ids_{3};
  LeaseDesk desk_{rig_.state, rig_.members.view(), rig_.replication.partition_manager.tenures(),
                  since_,     rig_.bench,          rig_.messenger,
                  ids_};
};

TEST_F(LeaseDeskTest, ALeaseIsTakenRenewedAndReturnedUnderOneNumber) {
  EXPECT_FALSE(desk_.have(rig_.now, host_));
  const ring::LeaseAsk take = sent_ask();
  EXPECT_EQ(take.id, (std::uint64_t{3} << 40) + 1) << "of its life";
  EXPECT_EQ(take.action, ring::LeaseAction::take);
  EXPECT_EQ(take.host, ring::md5(foreign_));
  EXPECT_EQ(take.delay, static_cast<std::uint64_t>(rig_.state.settings.delay.count()));
  EXPECT_EQ(take.wait, 0u);
  EXPECT_TRUE(sent().empty()) << "it waits for the answer";
  // The host needs no lease any more, so the granted lease is returned.
  desk_.on_answer(rig_.now, {{{.id = take.id, .given = true}}});
  const ring::LeaseAsk back = sent_ask();
  EXPECT_EQ(back.id, take.id);
  EXPECT_EQ(back.action, ring::LeaseAction::return_);
  EXPECT_EQ(back.delay, 0u);
  desk_.on_answer(rig_.now, {{{.id = take.id, .given = true}}});
  EXPECT_TRUE(desk_.idle());
}

TEST_F(LeaseDeskTest, WithoutAnAnswerItIsAskedForAgain) {
  EXPECT_FALSE(desk_.have(rig_.now, host_));
  const ring::LeaseAsk take = sent_ask();
  rig_.now += seconds{1};
  desk_.tick(rig_.now);
  const ring::LeaseAsk again = sent_ask();
  EXPECT_EQ(again.id, take.id);
  EXPECT_EQ(again.action, ring::LeaseAction::take);
  desk_.on_answer(rig_.now, {{{.id = 99, .given = true}}});
  EXPECT_FALSE(desk_.idle()) << "an answer to another question";
}

TEST_F(LeaseDeskTest, AHostOfThisPeersDigestIsLeasedWithoutAMessage) {
  host_.name = own_;
  EXPECT_FALSE(desk_.have(rig_.now, host_));
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(desk_.idle()) << "given at once, and returned since the host does not wait";
}

TEST_F(LeaseDeskTest, TheOwnerGivesAHostToOneAtATimeAndKeepsItsWait) {
  const auto taken = answers_to({ask_for(own_, ring::LeaseAction::take)});
  ASSERT_EQ(taken.size(), 1u);
  ASSERT_EQ(taken[0].leases.size(), 1u);
  EXPECT_EQ(taken[0].leases[0].id, 5u);
  EXPECT_TRUE(taken[0].leases[0].given);
  EXPECT_EQ(taken[0].leases[0].wait, 0u);
  EXPECT_FALSE(answers_to({ask_for(own_, ring::LeaseAction::take)}, 3).at(0).leases.at(0).given);
  EXPECT_TRUE(answers_to({ask_for(own_, ring::LeaseAction::renew)}).at(0).leases.at(0).given);
  ring::LeaseAsk back = ask_for(own_, ring::LeaseAction::return_);
  back.wait = 4'000'000;
  EXPECT_TRUE(answers_to({back}).at(0).leases.at(0).given) << "it is reported that the lease is over";
  const ring::Lease later = answers_to({ask_for(own_, ring::LeaseAction::take)}, 3).at(0).leases.at(0);
  EXPECT_FALSE(later.given);
  EXPECT_GE(later.wait, 4'000'000u);
}

// Seed 56182 of the simulator: a host was asked in a turn that its holder had lent, and too soon by the next holder.
TEST_F(LeaseDeskTest, TheWaitAfterATurnThatWasLentIsStored) {
  const storage::HostKey key = rig_.state.partitioner.host_key(own_, 0);
  ring::LeaseAsk ask{.id = 5, .action = ring::LeaseAction::take, .host = ring::md5(own_), .name = own_};
  const auto taken = answers_to({ask});
  ASSERT_EQ(taken.size(), 1u);
  ASSERT_TRUE(taken[0].leases.at(0).given);
  EXPECT_TRUE(desk_.take_clocks().empty());
  ask.action = ring::LeaseAction::return_;
  ask.wait = 4'000'000;
  ASSERT_TRUE(answers_to({ask}).at(0).leases.at(0).given);
  const auto clocks = desk_.take_clocks();
  ASSERT_EQ(clocks.size(), 1u);
  EXPECT_EQ(clocks[0].first, key);
  EXPECT_EQ(clocks[0].second.host, own_);
  EXPECT_EQ(clocks[0].second.next_allowed, rig_.now + std::chrono::seconds{4});
  EXPECT_TRUE(desk_.take_clocks().empty());
}

TEST_F(LeaseDeskTest, OfAnotherPeersHostItSaysNothing) {
  EXPECT_TRUE(answers_to({ask_for(foreign_, ring::LeaseAction::take)}).empty());
  const auto both = answers_to({ask_for(foreign_, ring::LeaseAction::take), ask_for(own_, ring::LeaseAction::take)});
  ASSERT_EQ(both.size(), 1u);
  EXPECT_EQ(both[0].leases.size(), 1u);
}

}  // namespace
}  // namespace orbweaver
