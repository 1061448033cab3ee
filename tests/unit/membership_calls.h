// One Membership and the calls to it, shared by the tests of membership's rules.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "tests/unit/membership_sim.h"

namespace orbweaver::ring {

const Time start{std::chrono::seconds(1'700'000'000)};

inline Member record(std::size_t number, std::uint64_t incarnation, MemberState state, bool suspect = false) {
  Member member = sim_member(number, incarnation);
  member.state = state;
  member.suspect = suspect;
  return member;
}

class MembershipCalls : public testing::Test {
 protected:
  void SetUp() override { tick(start); }
  std::vector<Send> tick(Time now) {
    std::vector<Send> out;
    peer.tick(now, out);
    return out;
  }
  // Ticks at each deadline; returns all messages sent.
  std::vector<Send> run_to(Time until) {
    std::vector<Send> all;
    while (peer.next_deadline() <= until) {
      const Time now = std::max(peer.next_deadline(), start);
      for (Send& send : tick(now)) all.push_back(std::move(send));
      EXPECT_GT(peer.next_deadline(), now) << "it would spin";
    }
    return all;
  }
  // Makes the member known and down.
  void bury(std::size_t number) {
    peer.merge({record(number, 5, MemberState::active, true)}, start - config.suspicion_time);
    peer.merge({record(number, 5, MemberState::down)}, start);
    ASSERT_EQ(peer.find(sim_id(number))->state, MemberState::down);
  }
  template <class T>
  static std::vector<std::pair<PeerId, T>> only(const std::vector<Send>& out) {
    std::vector<std::pair<PeerId, T>> found;
    for (const Send& send : out) {
      if (const T* body = std::get_if<T>(&send.body)) found.emplace_back(send.to, *body);
    }
    return found;
  }
  void answer(const std::vector<Send>& out, Time now) {
    for (const auto& [to, ping] : only<Ping>(out)) acknowledge(to, ping.sequence, true, now);
  }
  void acknowledge(const PeerId& from, std::uint64_t sequence, bool reached, Time now) {
    std::vector<Send> ignored;
    PingAck ack{sequence, {}, 0};
    ack.reached = reached;
    peer.on_ping_ack(from, ack, now, ignored);
  }
  // Members 1 to `count` become known, active and not suspected.
  void meet(std::size_t count) {
    for (std::size_t i = 1; i <= count; ++i) peer.merge({record(i, 5, MemberState::active)}, start);
  }
  // Like run_to(), but all pings are answered at once, except by the `silent` members.
  std::vector<Send> live_to(Time until, const std::set<PeerId>& silent = {}) {
    std::vector<Send> all;
    while (peer.next_deadline() <= until) {
      const Time now = std::max(peer.next_deadline(), start);
      for (Send& send : tick(now)) {
        if (!silent.contains(send.to)) answer({send}, now);
        all.push_back(std::move(send));
      }
    }
    return all;
  }

  MembershipConfig config;
  Membership peer{sim_member(0, 1000), MembershipConfig{}, 1};
};

}  // namespace orbweaver::ring
