#include "node/crawl/lease_desk.h"

#include <algorithm>
#include <utility>

namespace orbweaver {

namespace {

enum class LeaseAsk : std::uint8_t { ask = 1, renew = 2, give_back = 3 };

constexpr std::size_t lease_address_bytes = 17;
constexpr Duration answer_timeout = std::chrono::seconds{1};
constexpr Duration renew_every = std::chrono::seconds{3};
// The last answer may have been to an earlier question: a lease is taken to end this much sooner.
constexpr Duration unsure_time = std::chrono::seconds{2};
// A lease that is not used is returned: the peer may not fetch now, or the host has nothing to ask for any more.
constexpr Duration unused_max = std::chrono::seconds{2};
constexpr Duration later_max = std::chrono::hours{24};

Duration micros_of(std::uint64_t count) {
  return Duration(static_cast<std::int64_t>(std::min<std::uint64_t>(count, later_max / Duration{1})));
}

std::uint64_t count_of(Duration wait) { return static_cast<std::uint64_t>(std::max(wait, Duration{}).count()); }

}  // namespace

bool LeaseDesk::have(Time now, const BenchHost& host) {
  if (const auto id = lease_of_.find(host.key); id != lease_of_.end()) {
    const HostLease& lease = leases_.at(id->second);
    if (lease.state == HostLease::State::held && lease.until > now + unsure_time) return true;
    give_back(now, id->second, lease.wait);
  }
  HostLease lease;
  lease.key = host.key;
  lease.host = ring::md5(host.name);
  lease.wait = std::max(sites_->manners(host.name).delay, host.crawl_delay);
  lease.sent = now;
  const std::uint64_t id = (*next_id_)++;
  leases_.emplace(id, lease);
  lease_of_[host.key] = id;
  unsent_.push_back(id);
  return false;
}

void LeaseDesk::give_back(Time now, const storage::HostKey& key) {
  const auto id = lease_of_.find(key);
  if (id == lease_of_.end()) return;
  const BenchHost* const host = bench_->find(key);
  const Duration wait = leases_.at(id->second).wait;
  give_back(now, id->second, host == nullptr ? wait : std::max(host->next_allowed - now, Duration{}));
}

void LeaseDesk::give_back_unused(Time now, const storage::HostKey& key) {
  if (const auto id = lease_of_.find(key); id != lease_of_.end()) give_back(now, id->second, Duration{});
}

void LeaseDesk::give_back(Time now, std::uint64_t id, Duration wait) {
  HostLease& lease = leases_.at(id);
  lease_of_.erase(lease.key);
  lease.state = HostLease::State::returned;
  lease.until = now + wait;
  lease.sent = now;
  unsent_.push_back(id);
}

void LeaseDesk::tick(Time now) {
  std::vector<std::uint64_t> unused;
  for (auto& [id, lease] : leases_) {
    const bool held = lease.state == HostLease::State::held;
    if (now - lease.sent < (held ? renew_every : answer_timeout)) continue;
    const BenchHost* const host = bench_->find(lease.key);
    if (held && (host == nullptr || (!host->busy && now > std::max(host->next_allowed, lease.given) + unused_max))) {
      unused.push_back(id);
      continue;
    }
    lease.sent = now;
    unsent_.push_back(id);
  }
  for (const std::uint64_t id : unused) give_back(now, id, Duration{});
}

void LeaseDesk::send(Time now, const ring::PeerId& self, std::map<ring::PeerId, ring::TurnRequest>& requests,
                     ring::Turns& own) {
  for (const std::uint64_t id : std::exchange(unsent_, {})) {
    const auto found = leases_.find(id);
    if (found == leases_.end() || view_->empty()) continue;
    HostLease& lease = found->second;
    const bool returned = lease.state == HostLease::State::returned;
    const LeaseAsk what = returned                                ? LeaseAsk::give_back
                          : lease.state == HostLease::State::held ? LeaseAsk::renew
                                                                  : LeaseAsk::ask;
    std::string address(1, static_cast<char>(what));
    address.append(lease.host.begin(), lease.host.end());
    const ring::TurnAsk ask{
        .id = id, .address = std::move(address), .good_for = count_of(returned ? lease.until - now : lease.wait)};
    const ring::Partition partition = ring::partition_of(lease.host, view_->partitions());
    if (!view_->owns(partition)) {
      requests[view_->owner(partition)].asks.push_back(ask);
    } else if (const auto lent = lend(now, self, ask)) {
      own.turns.push_back(*lent);
    }
  }
}

std::optional<ring::Turn> LeaseDesk::lend(Time now, const ring::PeerId& from, const ring::TurnAsk& ask) {
  if (ask.address.size() != lease_address_bytes || view_->empty()) return std::nullopt;
  ring::Md5 host;
  std::transform(ask.address.begin() + 1, ask.address.end(), host.begin(),
                 [](char byte) { return static_cast<std::uint8_t>(byte); });
  const ring::Partition partition = ring::partition_of(host, view_->partitions());
  if (!view_->owns(partition)) return std::nullopt;
  const Time since = since_->of(partition, now);
  const HostLeaseBook::Lease lease{from, ask.id};
  switch (static_cast<LeaseAsk>(ask.address.front())) {
    case LeaseAsk::ask:
    case LeaseAsk::renew: {
      const bool renews = static_cast<LeaseAsk>(ask.address.front()) == LeaseAsk::renew;
      const HostLeaseBook::Answer answer = book_.ask(host, lease, renews, micros_of(ask.good_for), since, now);
      return ring::Turn{ask.id, answer.given, answer.given ? 0 : count_of(answer.at - now)};
    }
    case LeaseAsk::give_back:
      book_.give_back(host, lease, micros_of(ask.good_for), since, now);
      return ring::Turn{ask.id, true, 0};
  }
  return std::nullopt;
}

bool LeaseDesk::on_answer(Time now, const ring::Turn& answer) {
  const auto found = leases_.find(answer.id);
  if (found == leases_.end()) return false;
  HostLease& lease = found->second;
  if (lease.state == HostLease::State::returned) {
    leases_.erase(found);
    return true;
  }
  if (lease.state == HostLease::State::held) {
    if (answer.given) lease.until = lease.sent + HostLeaseBook::lease_time;
    return true;
  }
  BenchHost* const host = bench_->find(lease.key);
  const bool waits = host != nullptr && host->busy;
  if (!answer.given) {
    const Time later = now + std::min(micros_of(answer.wait), later_max);
    lease_of_.erase(lease.key);
    leases_.erase(found);
    if (waits) bench_->release(*host, std::max(host->next_allowed, later));
    return true;
  }
  lease.state = HostLease::State::held;
  lease.given = now;
  lease.until = lease.sent + HostLeaseBook::lease_time;
  if (waits) {
    bench_->resume(*host, now);
  } else {
    give_back(now, answer.id, Duration{});
  }
  return true;
}

}  // namespace orbweaver
