// Leases of hosts: which peer may ask a host now, ring-wide, where a host's URLs are in the partitions of many peers
// (partition_by = url). The owner of the host's digest leases the host to one asker at a time. The asker renews the
// lease while it needs it, and returns it with the wait that the host is due. So requests to a host never overlap, and
// its delay is kept between them, whichever peers send them.
//
// A lease ends by itself after `lease_time` without a renewal: its holder died, or is cut off. A new owner, which knows
// nothing of the leases given before it, waits that long and the asker's delay before its first one, and takes over the
// leases that are renewed with it meanwhile. Idempotent: asked again under the same id it gives the same answer.
// Bounded: a host that is not leased and whose wait has passed is forgotten; one with a Crawl-delay a day later, while
// there is room. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>

#include "node/base.h"
#include "ring/md5.h"
#include "ring/types.h"

namespace orbweaver {

class HostLeaseBook {
 public:
  static constexpr Duration lease_time{std::chrono::seconds{10}};
  static constexpr Duration max_wait{std::chrono::hours{24}};  // of a wait that is reported
  static constexpr std::size_t max_hosts = 100'000;            // at this many, askers for a new host must come back

  struct Lease {
    ring::PeerId peer;
    std::uint64_t id = 0;  // the asker's own number
    auto operator<=>(const Lease&) const = default;
  };
  struct Answer {
    bool given = false;
    Time at{};  // given: until when it is leased; else: when to ask again
  };

  // `usual`: the delay of hosts that name no longer one.
  explicit HostLeaseBook(Duration usual) : usual_(usual) {}

  // `delay`: the host's delay as the asker knows it. `renews`: the asker holds the lease, as far as it knows. `since`:
  // the peer that is asked owns the host from then on (the epoch: no other ever did).
  Answer ask(const ring::Md5& host, const Lease& lease, bool renews, Duration delay, Time since, Time now);
  // The lease is returned; the host may next be asked in `wait`.
  void give_back(const ring::Md5& host, const Lease& lease, Duration wait, Time since, Time now);
  // The lease that is returned was for another host's robots.txt: its holder does not know this host's Crawl-delay. The
  // next to ask waits for the longest delay that it, or another before it, has named.
  void asked_blindly(const ring::Md5& host, Time now) { hosts_[host].asked_blindly = now; }
  std::size_t hosts() const { return hosts_.size(); }

 private:
  struct Host {
    Time owned_since{};  // by this peer, when it last heard of the host
    Lease lease;
    Time leased_since{};  // by the present lessee
    Time leased_until{};  // before now: not leased
    Time free{};          // no request before this
    Duration delay{};     // the longest that an asker named
    Time asked_blindly{};
    Time ask_again{};   // when the last of the askers that were turned away must ask again
    ring::PeerId last;  // the last lessee; if another was turned away meanwhile, that one goes first
    bool another_waits = false;
  };
  Host& known(const ring::Md5& host, Duration delay, Time since);
  void forget(Time now);

  Duration usual_;
  std::map<ring::Md5, Host> hosts_;
  Time next_look_{};
};

}  // namespace orbweaver
