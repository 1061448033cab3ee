// Turns of addresses (address_turns.h): a host's address is looked up, its owner is asked for a turn, and the host
// stays acquired meanwhile, so that it is asked for once.
#include <algorithm>

#include "node/crawl/peer.h"
#include "node/url/scope.h"
#include "ring/md5.h"

namespace orbweaver {

namespace {

// A lookup costs a round trip, and addresses change seldom: the connection itself goes by the resolver's own lifetimes.
constexpr Duration address_lifetime = std::chrono::minutes{10};
// A lookup that failed may do better the next time.
constexpr Duration no_address_lifetime = std::chrono::seconds{2};
// Without an answer the turn is asked for again: of the owner of then.
constexpr Duration turn_timeout = std::chrono::seconds{1};
constexpr Duration turn_wait_max = std::chrono::hours{1};
constexpr std::size_t turn_asks_max = 1024;  // in a message
// A turn is asked for before its host is due, by what the way took twice and a little more, so that it is known in
// time.
constexpr Duration ahead_more = std::chrono::milliseconds{2};
constexpr Duration ahead_max = std::chrono::milliseconds{500};
// A peer that is later for its turns than this has other reasons than the way.
constexpr Duration way_max = std::chrono::milliseconds{500};

std::uint64_t count_of(Duration duration) { return static_cast<std::uint64_t>(std::max(duration, Duration{}).count()); }

Duration duration_of(std::uint64_t count, Duration most) {
  return Duration(static_cast<std::int64_t>(std::min(count, count_of(most))));
}

ring::Partition partition_of_address(std::string_view address, std::uint32_t partitions) {
  return ring::partition_of(ring::md5("address " + std::string(address)), partitions);
}

}  // namespace

// Never more than the host's own delay.
Duration Peer::address_delay_of(const BenchHost& host) const {
  const Duration delay = manners_of(site_of(host.name)).delay;
  return delay == Duration{} ? Duration{} : std::min(settings_.address_delay, std::max(delay, host.crawl_delay));
}

TransferShares::Place Peer::place_of(BenchHost& host) const {
  if (host.domain.empty()) host.domain = registrable_domain(host.name);
  return {.domain = host.domain, .network = network_of(host.address)};
}

void Peer::hold_back(BenchHost& host) {
  const storage::HostKey key = host.key;
  const TransferShares::Place place = place_of(host);
  if (bench_.hold(host)) shares_.hold(key, place);
}

void Peer::note_begin(Time now, BenchHost& host, std::uint64_t job) {
  shares_.begin(job, place_of(host));
  if (const Duration delay = address_delay_of(host); delay > Duration{} && !host.address.empty())
    own_requests_.begins(host.address, delay, now);
}

// Zero: it is asked for when the host is due.
Duration Peer::ask_ahead_by(const BenchHost& host) const {
  if (settings_.partition_by == PartitionBy::url || host.address.empty() || view_.empty()) return {};
  if (address_delay_of(host) == Duration{}) return {};
  const ring::PeerId owner = view_.owner(partition_of_address(host.address, view_.partitions()));
  if (owner == id()) return {};
  const auto way = turn_ways_.find(owner);
  return std::min((way == turn_ways_.end() ? Duration{} : 2 * way->second) + ahead_more, ahead_max);
}

Peer::AddressTurn Peer::may_begin(Time now, BenchHost& host, const std::string& url, Commands& out) {
  if (host.address_until <= now || host.address_host != host_of(url)) {
    host.address_host = host_of(url);
    host.address_turn = Time{};
    out.push_back(ResolveHost{host.key, url});
    return AddressTurn::asked;
  }
  if (!shares_.may_begin(place_of(host))) return AddressTurn::held;
  return address_turn(now, host);
}

Peer::AddressTurn Peer::address_turn(Time now, BenchHost& host) {
  if (const AddressTurn turn = host_turn(now, host); turn != AddressTurn::now) return turn;
  if (host.address.empty()) return AddressTurn::now;  // the fetch fails, and says why
  if (address_delay_of(host) == Duration{}) return AddressTurn::now;
  if (host.address_turn != Time{} && now <= host.address_turn_until) {
    if (const Time at = std::max(host.address_turn, own_requests_.next(host.address)); now < at) {
      host.next_allowed = std::max(host.next_allowed, at);
      return AddressTurn::later;
    }
    host.address_turn = Time{};
    return AddressTurn::now;
  }
  // It came too late for its turn, by a slow way or a busy peer: the next one is to be good for longer.
  if (host.address_turn != Time{} && !view_.empty()) {
    Duration& way = turn_ways_[view_.owner(partition_of_address(host.address, view_.partitions()))];
    way = std::max(way, std::min(now - host.address_turn, way_max));
  }
  ask_turn(now, host);
  return AddressTurn::asked;
}

void Peer::on_resolved(Time now, HostResolved& event) {
  BenchHost* host = bench_.find(event.host);
  if (host == nullptr || !host->busy) return;
  host->address = event.address.size() == 4 || event.address.size() == 16 ? std::move(event.address) : std::string();
  host->address_until = now + (host->address.empty() ? no_address_lifetime : address_lifetime);
  bench_.release(*host, host->next_allowed);
}

void Peer::ask_turn(Time now, BenchHost& host) {
  host.address_turn = Time{};
  turns_unsent_.push_back(next_turn_);
  turns_open_.emplace(next_turn_++, TurnWanted{.host = host.key,
                                               .address = host.address,
                                               .delay = address_delay_of(host),
                                               .due = host.next_allowed,
                                               .asked = now});
}

// Those that got no answer are asked for again.
void Peer::turns_tick(Time now, Commands& out) {
  if ((!turns_open_.empty() || !loans_.empty()) && now >= next_turns_look_) {
    next_turns_look_ = now + turn_timeout / 2;
    loans_tick(now);
    std::vector<std::uint64_t> late;
    for (const auto& [id, wanted] : turns_open_)
      if (now - wanted.asked >= turn_timeout) late.push_back(id);
    // Under a new id: a late answer to the first question is not one to the second.
    for (const std::uint64_t id : late) {
      auto wanted = turns_open_.extract(id);
      turns_unsent_.push_back(next_turn_);
      wanted.key() = next_turn_++;
      turns_open_.insert(std::move(wanted));
    }
  }
  send_turn_requests(now, out);
}

void Peer::send_turn_requests(Time now, Commands& out) {
  std::map<ring::PeerId, ring::TurnRequest> requests;
  ring::Turns own;
  for (const std::uint64_t id : std::exchange(turns_unsent_, {})) {
    const auto found = turns_open_.find(id);
    if (found == turns_open_.end()) continue;
    TurnWanted& wanted = found->second;
    wanted.asked = now;
    const ring::Partition partition = partition_of_address(wanted.address, view_.partitions());
    if (view_.empty()) continue;
    const ring::PeerId owner = view_.owner(partition);
    const auto known = turn_ways_.find(owner);
    const Duration way = known == turn_ways_.end() ? Duration{} : known->second;
    wanted.good_for = AddressTurns::good_for(wanted.delay, 2 * way);
    if (view_.owns(partition)) {
      const AddressTurns::Turn turn = turns_.ask(wanted.address,
                                                 {.asker = {this->id(), membership_.self().incarnation},
                                                  .delay = wanted.delay,
                                                  .good_for = wanted.good_for,
                                                  .in = std::max(wanted.due - now, Duration{})},
                                                 turns_since_[partition].value_or(now), now);
      own.turns.push_back({id, turn.given, count_of(turn.at - now)});
      continue;
    }
    ring::TurnRequest& request = requests[owner];
    // The answer counts from when it is here: the moment that is asked for is earlier by the way.
    request.asks.push_back({.id = id,
                            .address = wanted.address,
                            .good_for = count_of(wanted.good_for),
                            .delay = count_of(wanted.delay),
                            .in = count_of(wanted.due - now - way)});
    if (request.asks.size() >= turn_asks_max) send(owner, std::exchange(request, {}), out);
  }
  send_loan_asks(now, requests, own);
  for (auto& [owner, request] : requests)
    if (!request.asks.empty()) send(owner, std::move(request), out);
  on_turns(now, id(), own);
}

void Peer::on_turn_request(Time now, const ring::Message& in, const ring::TurnRequest& request,
                           const ring::ReplyPath& reply, Commands& out) {
  ring::Turns answer;
  for (const ring::TurnAsk& ask : request.asks) {
    if (const auto turn = lend(now, in.from, ask)) answer.turns.push_back(*turn);
    if (ask.address.size() != 4 && ask.address.size() != 16) continue;
    const ring::Partition partition = partition_of_address(ask.address, view_.partitions());
    if (view_.empty() || !view_.owns(partition)) continue;  // the asker will hear of the owner, and ask again
    const AddressTurns::Turn turn = turns_.ask(ask.address,
                                               {.asker = {in.from, in.incarnation},
                                                .delay = duration_of(ask.delay, settings_.address_delay),
                                                .good_for = duration_of(ask.good_for, AddressTurns::horizon),
                                                .in = duration_of(ask.in, turn_wait_max)},
                                               turns_since_[partition].value_or(now), now);
    answer.turns.push_back({ask.id, turn.given, count_of(turn.at - now)});
  }
  if (!answer.turns.empty()) reply_to(reply, in.from, std::move(answer), out);
}

void Peer::on_turns(Time now, const ring::PeerId& from, const ring::Turns& turns) {
  for (const ring::Turn& turn : turns.turns) {
    if (on_loan(now, turn)) continue;
    const auto wanted = turns_open_.find(turn.id);
    if (wanted == turns_open_.end()) continue;
    BenchHost* host = bench_.find(wanted->second.host);
    // The owner counts from some moment between the question and now.
    const Time asked = wanted->second.asked;
    const Duration good_for = wanted->second.good_for;
    // What took long once passes.
    Duration& way = turn_ways_[from];
    way = std::max(from == id() ? Duration{} : now - asked, way - way / 8);
    turns_open_.erase(wanted);
    if (host == nullptr || !host->busy) continue;
    const Duration wait = duration_of(turn.wait, turn_wait_max);
    host->address_turn = turn.given ? now + wait : Time{};
    host->address_turn_until = asked + wait + good_for;
    bench_.release(*host, std::max(host->next_allowed, now + wait));
  }
}

// Who comes to own an address knows nothing of the turns that the last owner gave.
void Peer::note_turn_owners(Time now) {
  const bool first = turns_since_.empty();
  turns_since_.resize(view_.partitions());
  for (std::uint32_t i = 0; i < view_.partitions(); ++i) {
    const auto partition = static_cast<ring::Partition>(i);
    if (!view_.owns(partition)) {
      turns_since_[i].reset();
    } else if (!turns_since_[i]) {
      turns_since_[i] = first && made_ring_ ? Time{} : now;
    }
  }
}

}  // namespace orbweaver
