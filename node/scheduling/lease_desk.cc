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
// Of a host that was asked for another host's robots.txt, however little is due: 0 says that it was not asked.
constexpr std::uint64_t least_wait = 1;
constexpr std::size_t max_name_bytes = 255;  // of a host
constexpr Duration max_later = std::chrono::hours{24};

Duration micros_of(std::uint64_t count) {
  return Duration(static_cast<std::int64_t>(std::min<std::uint64_t>(count, max_later / Duration{1})));
}

std::uint64_t count_of(Duration wait) { return static_cast<std::uint64_t>(std::max(wait, Duration{}).count()); }

}  // namespace

bool LeaseDesk::have(Time now, const BenchHost& host) {
  if (const auto id = lease_of_.find(host.key); id != lease_of_.end()) {
    const HostLease& lease = leases_.at(id->second);
    if (lease.state == HostLease::State::held && lease.until > now + unsure_time && lease.name == host.elsewhere)
      return true;
    give_back(now, id->second, lease.delay);
  }
  const std::string& asked = host.elsewhere.empty() ? host.name : host.elsewhere;
  HostLease lease;
  lease.key = host.key;
  lease.host = ring::md5(asked);
  lease.name = host.elsewhere;
  lease.delay = std::max(sites_->pacing(asked).delay, host.elsewhere.empty() ? host.crawl_delay : Duration{});
  lease.sent = now;
  const std::uint64_t id = ids_->next();
  leases_.emplace(id, lease);
  ++asked_;
  lease_of_[host.key] = id;
  unsent_.push_back(id);
  return false;
}

void LeaseDesk::give_back(Time now, const storage::HostKey& key) {
  const auto id = lease_of_.find(key);
  if (id == lease_of_.end()) return;
  const BenchHost* const host = bench_->find(key);
  const HostLease& lease = leases_.at(id->second);
  const bool known = host != nullptr && lease.name.empty();
  give_back(now, id->second, known ? std::max(host->next_allowed - now, Duration{}) : lease.delay);
}

void LeaseDesk::give_back_elsewhere(Time now, const storage::HostKey& key, Duration wait) {
  if (const auto id = lease_of_.find(key); id != lease_of_.end()) give_back(now, id->second, wait);
}

void LeaseDesk::give_back_unused(Time now, const storage::HostKey& key) {
  if (const auto id = lease_of_.find(key); id != lease_of_.end()) give_back(now, id->second, {});
}

void LeaseDesk::give_back(Time now, std::uint64_t id, std::optional<Duration> wait) {
  HostLease& lease = leases_.at(id);
  lease_of_.erase(lease.key);
  if (lease.state == HostLease::State::asked) --asked_;
  lease.state = HostLease::State::returned;
  if (wait) lease.next_asked = now + *wait;
  lease.sent = now;
  unsent_.push_back(id);
}

void LeaseDesk::tick(Time now) {
  for (auto turn = turns_.begin(); turn != turns_.end();) {
    const auto over = turn++;
    if (over->second.until <= now) take_back(now, over, Duration{});
  }
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
  for (const std::uint64_t id : unused) give_back(now, id, {});
}

void LeaseDesk::send(const Step& step, const ring::PeerId& self) {
  const Time now = step.now;
  std::map<ring::PeerId, ring::LeaseRequest> requests;
  ring::LeaseAnswer own;
  for (const std::uint64_t id : std::exchange(unsent_, {})) {
    const auto found = leases_.find(id);
    if (found == leases_.end() || view_->empty()) continue;
    const HostLease& lease = found->second;
    ring::LeaseAsk ask{.id = id, .host = lease.host, .name = lease.name};
    if (lease.state == HostLease::State::returned) {
      ask.action = ring::LeaseAction::return_;
      if (lease.next_asked) ask.wait = count_of(*lease.next_asked - now);
      if (lease.next_asked && !lease.name.empty()) ask.wait = std::max(ask.wait, least_wait);
    } else {
      ask.action = lease.state == HostLease::State::held ? ring::LeaseAction::renew : ring::LeaseAction::take;
      ask.delay = count_of(lease.delay);
    }
    const ring::Partition partition = partition_of(lease.host, lease.name);
    const bool of_holder = !lease.name.empty() && state_->partitioner.by() != PartitionBy::url;
    const ring::PeerId owner = of_holder ? tenures_->of(partition).holder : view_->owner(partition);
    if (owner != self) {
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

ring::Partition LeaseDesk::partition_of(const ring::Md5& host, const std::string& name) const {
  return name.empty() ? ring::partition_of(host, view_->partitions()) : state_->partitioner.home(name);
}

// A turn of a host that this peer asks for its own pages.
std::optional<ring::Lease> LeaseDesk::lend_turn(Time now, const ring::PeerId& from, const ring::LeaseAsk& ask) {
  const storage::HostKey key = state_->partitioner.host_key(ask.name, 0);
  const HostLeaseBook::Lease lease{from, ask.id};
  const auto lent = turns_.find(key);
  const bool its_own = lent != turns_.end() && lent->second.lease == lease;
  if (ask.action == ring::LeaseAction::return_) {
    if (its_own) take_back(now, lent, micros_of(ask.wait));
    return ring::Lease{.id = ask.id, .given = true};
  }
  if (its_own) {
    lent->second.until = now + HostLeaseBook::lease_time;
    return ring::Lease{.id = ask.id, .given = true};
  }
  if (!bench_->fetches(key.partition)) return std::nullopt;  // another peer holds it, or will
  const Time opens = sites_->first_allowed(ask.name, now);
  // An unknown renewal is of a request in flight, from before this peer held the host: it is given as soon as possible.
  const std::optional<Time> again = opens > now ? opens : bench_->lend(key, ask.name, now);
  if (again) return ring::Lease{.id = ask.id, .given = false, .wait = count_of(*again - now)};
  turns_.insert_or_assign(key, Turn{lease, ask.name, now + HostLeaseBook::lease_time});
  return ring::Lease{.id = ask.id, .given = true};
}

void LeaseDesk::take_back(Time now, std::map<storage::HostKey, Turn>::iterator turn, Duration wait) {
  const Duration delay = std::max(sites_->pacing(turn->second.name).delay, bench_->crawl_delay(turn->first));
  const Time next_allowed = now + std::max(wait, delay);
  bench_->take_back(turn->first, next_allowed, now);
  if (next_allowed > now)
    clocks_.emplace_back(turn->first, bench_->clock_after(turn->first, turn->second.name, next_allowed, now));
  turns_.erase(turn);
}

std::optional<ring::Lease> LeaseDesk::lend(Time now, const ring::PeerId& from, const ring::LeaseAsk& ask) {
  if (view_->empty() || ask.name.size() > max_name_bytes) return std::nullopt;
  if (!ask.name.empty() && state_->partitioner.by() != PartitionBy::url) return lend_turn(now, from, ask);
  const ring::Partition partition = partition_of(ask.host, ask.name);
  if (!view_->owns(partition)) return std::nullopt;
  const Time since = since_->of(partition, now);
  const HostLeaseBook::Lease lease{from, ask.id};
  if (ask.action == ring::LeaseAction::return_) {
    book_.give_back(ask.host, lease, micros_of(ask.wait), since, now);
    if (!ask.name.empty() && ask.wait > 0) book_.asked_blindly(ask.host, now);
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
  --asked_;
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
    give_back(now, answer.id, {});
  }
}

}  // namespace orbweaver
