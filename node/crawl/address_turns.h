// An address that serves a thousand hosts is one guest-house: whose turn it is to ask it, ring-wide. The owner of an
// address (its digest falls into a partition, like a host's) hands out turns to all who hold hosts on it. A request
// keeps the address for its own address delay, which is never more than its host's delay: no other begins before that
// is over. Turns are given no farther ahead than `horizon`; who comes when these are used up is told when to ask again.
// So a new owner, who knows nothing of turns given before it, waits that long and is right.
//
// A turn is a moment and how long it is good for: what the way to the owner takes nobody can tell from waiting. Turns
// that follow each other are a delay apart when one peer has both, for it keeps the delay between its own requests by
// its own clock (OwnRequests); when they are of two peers, the second comes after the end of the first and its delay.
// So an address that one peer asks is asked at its delay, and an address of many peers nearly so.
//
// Bounded: an address without turns ahead is forgotten. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "node/base.h"
#include "ring/types.h"

namespace orbweaver {

class AddressTurns {
 public:
  static constexpr Duration horizon{std::chrono::seconds{2}};
  static constexpr std::size_t addresses_max = 100'000;  // beyond it every asker is told to come back

  // Who asks: a peer that has restarted does not know its last requests, so it counts as another.
  struct Asker {
    ring::PeerId peer;
    std::uint64_t incarnation = 0;
    bool operator==(const Asker&) const = default;
  };
  struct Ask {
    Asker asker;
    Duration delay{};     // that the request keeps the address for, at most the ring's; 0: the ring's
    Duration good_for{};  // the request may begin so long after the turn's moment; up to horizon
    Duration in{};        // the turn is not needed before so long from now
  };
  struct Turn {
    bool given = false;
    Time at{};  // given: the request may begin then; else: ask again then
  };

  explicit AddressTurns(Duration address_delay) : delay_(address_delay) {}

  // `since`: the asked one owns the address from then on (the epoch: no other ever did).
  Turn ask(std::string_view address, const Ask& ask, Time since, Time now);
  // What a turn is good for at least, and at most: what the asker's loop may be late by.
  static Duration good_for(Duration delay, Duration wished);
  std::size_t addresses() const { return addresses_.size(); }

 private:
  struct Address {
    Asker last;           // who has the last turn
    Time free_to_last{};  // the next turn, when it is that one's
    Time free{};          // when it is another's
    Time told{};          // when the last of those who were turned away is to ask again
  };
  void forget(Time now);

  Duration delay_;
  std::map<std::string, Address, std::less<>> addresses_;
  Time next_look_{};
};

// When a peer may ask an address again as far as its own requests go. Bounded: what is over is forgotten.
class OwnRequests {
 public:
  Time next(std::string_view address) const;
  // A request begins that keeps the address for `delay`.
  void begins(std::string_view address, Duration delay, Time now);

 private:
  std::map<std::string, Time, std::less<>> next_;
  std::size_t look_at_ = 64;  // so many addresses, then those whose time is over go
};

}  // namespace orbweaver
