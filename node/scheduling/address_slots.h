// Slots of IP addresses: when a peer may send a request to an address, ring-wide. One address may serve thousands of
// hosts, and all of them together are asked no faster than the address's delay.
//
// The owner of an address gives out its slots. The owner follows from the digest of the address, as a host's does. A
// slot reserves the address for the delay that the asker names, which is never longer than the delay of its host; no
// other slot begins before that has passed. Slots are given at most `horizon` ahead. A peer that asks when these are
// used up is answered when to ask again. So a new owner, which knows nothing of the slots given before it, waits that
// long and is right.
//
// A slot is a moment and how long it stays valid, because network delay and queueing cannot be told apart. Two slots of
// one peer that follow each other are a delay apart: the peer keeps the delay between its own requests by its own clock
// (OwnRequests). A slot of another peer begins after the end of the last one and its delay. So an address that one peer
// asks is asked at its delay, and an address that many peers ask at nearly that.
//
// Bounded: an address without slots ahead is forgotten. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "node/base.h"
#include "ring/types.h"

namespace orbweaver {

class AddressSlotBook {
 public:
  static constexpr Duration horizon{std::chrono::seconds{2}};
  static constexpr std::size_t max_addresses = 100'000;  // at this many, askers for a new address must come back

  // The peer that asks; one that has restarted does not know its last requests, so it counts as another.
  struct Asker {
    ring::PeerId peer;
    std::uint64_t incarnation = 0;
    bool operator==(const Asker&) const = default;
  };
  struct Ask {
    Asker asker;
    Duration delay{};     // how long the request reserves the address, at most the ring's delay; 0: the ring's
    Duration good_for{};  // the request may begin this long after the slot's moment; up to horizon
    Duration in{};        // the slot is not needed before this long from now
  };
  struct Slot {
    bool given = false;
    Time at{};  // given: the request may begin then; else: ask again then
  };

  explicit AddressSlotBook(Duration address_delay) : delay_(address_delay) {}

  // `since`: the peer that is asked owns the address from then on (the epoch: no other ever did).
  Slot ask(std::string_view address, const Ask& ask, Time since, Time now);
  // How long a slot stays valid: as `wished`, at least what the asker's loop may be late by, at most `horizon`.
  static Duration good_for(Duration delay, Duration wished);
  std::size_t addresses() const { return addresses_.size(); }

 private:
  struct Address {
    Time owned_since{};   // by this peer, when it was last asked
    Asker last;           // the asker with the last slot
    Time free_to_last{};  // the next slot, when that asker asks
    Time free{};          // when another asks
    Time ask_again{};     // when the last of the askers that were turned away must ask again
  };
  void forget(Time now);

  Duration delay_;
  std::map<std::string, Address, std::less<>> addresses_;
  Time next_look_{};
};

// When a peer may ask an address again by its own requests. Bounded: what is over is forgotten.
class OwnRequests {
 public:
  Time next(std::string_view address) const;
  // A request begins that reserves the address for `delay`.
  void begins(std::string_view address, Duration delay, Time now);
  std::size_t addresses() const { return next_.size(); }

 private:
  std::map<std::string, Time, std::less<>> next_;
  std::size_t look_at_ = 64;  // at this many addresses, those whose time is over go
};

}  // namespace orbweaver
