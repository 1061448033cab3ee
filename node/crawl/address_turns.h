// An address that serves a thousand hosts is one guest-house: whose turn it is to ask it, ring-wide. The owner of an
// address (its digest falls into a partition, like a host's) hands out turns to all who hold hosts on it: moments that
// are address_delay apart. Turns are given no farther ahead than `horizon`; who comes when these are used up is told
// when to ask again. So a new owner, who knows nothing of turns given before it, waits that long and is right.
//
// A turn is good for a while (a quarter of address_delay, or what the way to the owner takes, which nobody can tell
// from waiting), and the next one comes address_delay after its end: two requests are never nearer than that. Bounded:
// an address without turns ahead is forgotten. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

class AddressTurns {
 public:
  static constexpr Duration horizon{std::chrono::seconds{2}};
  static constexpr std::size_t addresses_max = 100'000;  // beyond it every asker is told to come back

  struct Turn {
    bool given = false;
    Time at{};  // given: the request may begin then; else: ask again then
  };

  explicit AddressTurns(Duration address_delay) : delay_(address_delay) {}

  // `since`: the asked one owns the address from then on (the epoch: no other ever did). `good_for`: the request may
  // begin so long after the turn's moment; up to horizon.
  Turn ask(std::string_view address, Duration good_for, Time since, Time now);
  Duration good_for() const { return delay_ / 4; }  // at least
  std::size_t addresses() const { return addresses_.size(); }

 private:
  struct Address {
    Time free{};  // the next turn
    Time told{};  // when the last of those who were turned away is to ask again
  };
  void forget(Time now);

  Duration delay_;
  std::map<std::string, Address, std::less<>> addresses_;
  Time next_look_{};
};

}  // namespace orbweaver
