#include "node/crawl/host_turns.h"

#include <algorithm>

namespace orbweaver {

namespace {

// Between two who were turned away: they come one after the other. Short, for most requests are.
constexpr Duration apart = std::chrono::milliseconds{20};
// Nobody is told to come back later than this: the host may be given back at any moment.
constexpr Duration told_max = std::chrono::seconds{2};
constexpr Duration look_every = std::chrono::seconds{10};

}  // namespace

HostTurns::Answer HostTurns::ask(const ring::Md5& host, const Loan& loan, bool renews, Duration delay, Time since,
                                 Time now) {
  forget(now);
  auto found = hosts_.find(host);
  if (found == hosts_.end()) {
    if (hosts_.size() >= hosts_max) return {false, now + told_max};
    found = hosts_.try_emplace(host).first;
    // Who comes to own it: a loan of before may still run, and the host may have been asked just now.
    if (since != Time{}) found->second.free = since + loan_time + delay;
  }
  Host& at = found->second;
  const bool lent = at.lent_until > now;
  const bool owned_anew = since != Time{} && now < since + loan_time;
  if ((lent && at.loan == loan) || (renews && !lent && owned_anew)) {
    at.loan = loan;
    at.lent_until = now + loan_time;
    return {true, at.lent_until};
  }
  const bool others_first = at.another_waits && loan.peer == at.last && now < at.free + told_max;
  if (!lent && now >= at.free && !others_first) {
    // A loan that ran out: what its holder asked of the host is not known.
    const bool ran_out = at.loan != Loan{};
    if (!ran_out || now >= at.lent_until + delay) {
      at.loan = loan;
      at.lent_until = now + loan_time;
      at.told = Time{};
      at.last = loan.peer;
      at.another_waits = false;
      return {true, at.lent_until};
    }
    at.free = at.lent_until + delay;
  }
  at.another_waits = at.another_waits || loan.peer != at.last;
  at.told = std::clamp(at.told + apart, std::max(at.free, now + apart), std::max(at.free, now + told_max));
  return {false, at.told};
}

void HostTurns::give_back(const ring::Md5& host, const Loan& loan, Duration wait, Time since, Time now) {
  wait = std::clamp(wait, Duration{}, wait_max);
  const auto [entry, fresh] = hosts_.try_emplace(host);
  Host& at = entry->second;
  // One that is not known was lent by an owner of before, who may have lent it again: a word that comes late.
  if (fresh && since != Time{}) at.free = since + loan_time + wait;
  at.free = std::max(at.free, now + wait);
  if (at.loan != loan) return;
  at.loan = Loan{};
  at.lent_until = Time{};
}

void HostTurns::forget(Time now) {
  if (now < next_look_) return;
  next_look_ = now + look_every;
  std::erase_if(hosts_, [now](const auto& entry) {
    const Host& at = entry.second;
    return at.lent_until + wait_max < now && at.free < now && at.told < now;
  });
}

}  // namespace orbweaver
