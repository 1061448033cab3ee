#include "node/scheduling/host_leases.h"

#include <algorithm>

namespace orbweaver {

namespace {

// Between two askers that were turned away: they come one after the other. Short, because most requests are.
constexpr Duration apart = std::chrono::milliseconds{20};
// No peer is asked to come back later than this: the host may be returned at any moment.
constexpr Duration max_ask_again = std::chrono::seconds{2};
constexpr Duration look_every = std::chrono::seconds{10};

}  // namespace

// A new owner does not know what was given before it, even if it has owned the host at an earlier time: the lease of
// the owner in between may still run, and the host may have been asked just now.
HostLeaseBook::Host& HostLeaseBook::known(const ring::Md5& host, Duration delay, Time since) {
  Host& at = hosts_[host];
  if (at.owned_since == since) return at;
  at.owned_since = since;
  at.lease = Lease{};
  at.leased_until = Time{};
  at.free = std::max(at.free, since + lease_time + delay);
  return at;
}

HostLeaseBook::Answer HostLeaseBook::ask(const ring::Md5& host, const Lease& lease, bool renews, Duration delay,
                                         Time since, Time now) {
  forget(now);
  if (hosts_.size() >= max_hosts && !hosts_.contains(host)) return {false, now + max_ask_again};
  Host& at = known(host, delay, since);
  delay = at.delay = std::max(at.delay, delay);
  if (at.asked_blindly != Time{}) at.free = std::max(at.free, at.asked_blindly + delay);
  const bool leased = at.leased_until > now;
  const bool owned_anew = since != Time{} && now < since + lease_time;
  if ((leased && at.lease == lease) || (renews && !leased && owned_anew)) {
    at.lease = lease;
    if (!leased) at.leased_since = now;
    at.leased_until = now + lease_time;
    return {true, at.leased_until};
  }
  const bool others_first = at.another_waits && lease.peer == at.last && now < at.free + max_ask_again;
  if (!leased && now >= at.free && !others_first) {
    // The lease ran out: what its holder asked of the host is not known.
    const bool ran_out = at.lease != Lease{};
    if (!ran_out || now >= at.leased_until + delay) {
      at.lease = lease;
      at.leased_since = now;
      at.leased_until = now + lease_time;
      at.ask_again = at.asked_blindly = Time{};
      at.last = lease.peer;
      at.another_waits = false;
      return {true, at.leased_until};
    }
    at.free = at.leased_until + delay;
  }
  at.another_waits = at.another_waits || lease.peer != at.last;
  // The longer the host is leased the less often others ask. Else their questions fill the queues of busy peers, so
  // that the host is leased for longer still.
  const Duration wait = leased ? std::clamp((now - at.leased_since) / 2, apart, max_ask_again) : apart;
  at.ask_again =
      std::clamp(at.ask_again + apart, std::max(at.free, now + wait), std::max(at.free, now + max_ask_again));
  return {false, at.ask_again};
}

void HostLeaseBook::give_back(const ring::Md5& host, const Lease& lease, Duration wait, Time since, Time now) {
  wait = std::clamp(wait, Duration{}, max_wait);
  Host& at = known(host, wait, since);
  at.free = std::max(at.free, now + wait);
  if (at.lease != lease) return;
  at.lease = Lease{};
  at.leased_until = Time{};
}

void HostLeaseBook::forget(Time now) {
  if (now < next_look_) return;
  next_look_ = now + look_every;
  const bool room = hosts_.size() < max_hosts / 2;
  std::erase_if(hosts_, [&](const auto& entry) {
    const Host& at = entry.second;
    const Duration kept = room && at.delay > usual_ ? max_wait : Duration{};
    return at.leased_until + max_wait < now && at.asked_blindly + max_wait < now && at.free + kept < now &&
           at.ask_again < now;
  });
}

}  // namespace orbweaver
