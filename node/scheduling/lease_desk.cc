#include "node/scheduling/lease_desk.h"

#include <algorithm>
#include <utility>

namespace orbweaver {

namespace {

constexpr Duration answer_timeout = std::chrono::seconds{1};
constexpr Duration renew_every = std::chrono::seconds{3};
// The last answer may have been to an earlier question: a lease counts as ended this much sooner.
constexpr Duration unsure_time = std::chrono::seconds{2};
// A lease that is not used is returned: the peer may not fetch now, or the host has nothing more to ask for.
constexpr Duration max_unused = std::chrono::seconds{2};
constexpr Duration max_later = std::chrono::hours{24};

Duration micros_of(std::uint64_t count) {
  return Duration(static_cast<std::int64_t>(std::min<std::uint64_t>(count, max_later / Duration{1})));
}

std::uint64_t count_of(Duration wait) { return static_cast<std::uint64_t>(std::max(wait, Duration{}).count()); }

}  // namespace

bool LeaseDesk::have(Time now, const BenchHost& host) {
  if (const auto id = lease_of_.find(host.key); id != lease_of_.end()) {
    const HostLease& lease = leases_.at(id->second);
    if (lease.state == HostLease::State::held && lease.until > now + unsure_time) return true;
    give_back(now, id->second, lease.delay);
  }
  HostLease lease;
  lease.key = host.key;
  lease.host = ring::md5(host.name);
  lease.delay = std::max(sites_->pacing(host.name).delay, host.crawl_delay);
  lease.sent = now;
  const std::uint64_t id = ids_->next();
  leases_.emplace(id, lease);
  lease_of_[host.key] = id;
  unsent_.push_back(id);
  return false;
}

void LeaseDesk::give_back(Time now, const storage::HostKey& key) {
  const auto id = lease_of_.find(key);
  if (id == lease_of_.end()) return;
  const BenchHost* const host = bench_->find(key);
  const Duration delay = leases_.at(id->second).delay;
  give_back(now, id->second, host == nullptr ? delay : std::max(host->next_allowed - now, Duration{}));
}

void LeaseDesk::give_back_unused(Time now, const storage::HostKey& key) {
  if (const auto id = lease_of_.find(key); id != lease_of_.end()) give_back(now, id->second, Duration{});
}

void LeaseDesk::give_back(Time now, std::uint64_t id, Duration wait) {
  HostLease& lease = leases_.at(id);
  lease_of_.erase(lease.key);
  lease.state = HostLease::State::returned;
  lease.next_asked = now + wait;
  lease.sent = now;
  unsent_.push_back(id);
}

void LeaseDesk::tick(Time now) {
  std::vector<std::uint64_t> unused;
  for (auto& [id, lease] : leases_) {
    const bool held = lease.state == HostLease::State::held;
    if (now - lease.sent < (held ? renew_every : answer_timeout)) continue;
    const BenchHost* const host = bench_->find(lease.key);
    if (held && (host == nullptr || (!host->busy && now > std::max(host->next_allowed, lease.given) + max_unused))) {
      unused.push_back(id);
      continue;
    }
    lease.sent = now;
    unsent_.push_back(id);
  }
  for (const std::uint64_t id : unused) give_back(now, id, Duration{});
}

void LeaseDesk::send(const Step& step, const ring::PeerId& self) {
  const Time now = step.now;
  std::map<ring::PeerId, ring::LeaseRequest> requests;
  ring::LeaseAnswer own;
  for (const std::uint64_t id : std::exchange(unsent_, {})) {
    const auto found = leases_.find(id);
    if (found == leases_.end() || view_->empty()) continue;
    const HostLease& lease = found->second;
    ring::LeaseAsk ask{.id = id, .host = lease.host};
    if (lease.state == HostLease::State::returned) {
      ask.action = ring::LeaseAction::return_;
      ask.wait = count_of(lease.next_asked - now);
    } else {
      ask.action = lease.state == HostLease::State::held ? ring::LeaseAction::renew : ring::LeaseAction::take;
      ask.delay = count_of(lease.delay);
    }
    const ring::Partition partition = ring::partition_of(lease.host, view_->partitions());
    if (!view_->owns(partition)) {
      const ring::PeerId owner = view_->owner(partition);
      ring::LeaseRequest& request = requests[owner];
      request.asks.push_back(ask);
      if (request.asks.size() >= ring::max_asks) messenger_->send(owner, std::exchange(request, {}), step.out);
    } else if (const auto lent = lend(now, self, ask)) {
      own.leases.push_back(*lent);
    }
  }
  for (auto& [owner, request] : requests)
    if (!request.asks.empty()) messenger_->send(owner, std::move(request), step.out);
  on_answer(now, own);
}

void LeaseDesk::on_request(const Step& step, const ring::PeerId& from, const ring::LeaseRequest& request,
                           const ring::ReplyPath& reply) {
  ring::LeaseAnswer answer;
  for (const ring::LeaseAsk& ask : request.asks)
    if (const auto lent = lend(step.now, from, ask)) answer.leases.push_back(*lent);
  if (!answer.leases.empty()) messenger_->reply(reply, from, std::move(answer), step.out);
}

std::optional<ring::Lease> LeaseDesk::lend(Time now, const ring::PeerId& from, const ring::LeaseAsk& ask) {
  if (view_->empty()) return std::nullopt;
  const ring::Partition partition = ring::partition_of(ask.host, view_->partitions());
  if (!view_->owns(partition)) return std::nullopt;
  const Time since = since_->of(partition, now);
  const HostLeaseBook::Lease lease{from, ask.id};
  if (ask.action == ring::LeaseAction::return_) {
    book_.give_back(ask.host, lease, micros_of(ask.wait), since, now);
    return ring::Lease{.id = ask.id, .given = true};
  }
  const bool renews = ask.action == ring::LeaseAction::renew;
  const HostLeaseBook::Answer answer = book_.ask(ask.host, lease, renews, micros_of(ask.delay), since, now);
  return ring::Lease{.id = ask.id, .given = answer.given, .wait = answer.given ? 0 : count_of(answer.at - now)};
}

void LeaseDesk::on_answer(Time now, const ring::LeaseAnswer& answer) {
  for (const ring::Lease& lease : answer.leases) take_answer(now, lease);
}

void LeaseDesk::take_answer(Time now, const ring::Lease& answer) {
  const auto found = leases_.find(answer.id);
  if (found == leases_.end()) return;
  HostLease& lease = found->second;
  if (lease.state == HostLease::State::returned) {
    leases_.erase(found);
    return;
  }
  if (lease.state == HostLease::State::held) {
    if (answer.given) lease.until = lease.sent + HostLeaseBook::lease_time;
    return;
  }
  BenchHost* const host = bench_->find(lease.key);
  const bool waits = host != nullptr && host->busy;
  if (!answer.given) {
    const Time later = now + std::min(micros_of(answer.wait), max_later);
    lease_of_.erase(lease.key);
    leases_.erase(found);
    if (waits) bench_->release(*host, std::max(host->next_allowed, later));
    return;
  }
  lease.state = HostLease::State::held;
  lease.given = now;
  lease.until = lease.sent + HostLeaseBook::lease_time;
  if (waits) {
    bench_->resume(*host, now);
  } else {
    give_back(now, answer.id, Duration{});
  }
}

}  // namespace orbweaver
