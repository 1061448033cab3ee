// Turns of addresses (address_turns.h): a host's address is looked up, its owner is asked for a turn, and the host
// stays acquired meanwhile, so that it is asked for once.
#include <algorithm>

#include "node/crawl/peer.h"
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

ring::Partition partition_of_address(std::string_view address, std::uint32_t partitions) {
  return ring::partition_of(ring::md5("address " + std::string(address)), partitions);
}

}  // namespace

// Whether the host may be asked now; `later`: its next_allowed says when; `asked`: it stays acquired until its address
// or its turn is known.
Peer::AddressTurn Peer::address_turn(Time now, BenchHost& host, const std::string& url, Commands& out) {
  if (const AddressTurn turn = host_turn(now, host); turn != AddressTurn::now) return turn;
  const Duration delay = std::min(settings_.address_delay, manners_of(site_of(host.name)).delay);
  if (delay == Duration{}) return AddressTurn::now;
  if (host.address_until <= now || host.address_host != host_of(url)) {
    host.address_host = host_of(url);
    host.address_turn = Time{};
    out.push_back(ResolveHost{host.key, url});
    return AddressTurn::asked;
  }
  if (host.address.empty()) return AddressTurn::now;  // the fetch fails, and says why
  if (host.address_turn != Time{} && now <= host.address_turn_until) {
    if (now < host.address_turn) {
      host.next_allowed = std::max(host.next_allowed, host.address_turn);
      return AddressTurn::later;
    }
    host.address_turn = Time{};
    return AddressTurn::now;
  }
  // It came too late for its turn, by a slow way or a busy peer: the next one is to be good for longer.
  if (host.address_turn != Time{} && !view_.empty()) {
    Duration& way = turn_ways_[view_.owner(partition_of_address(host.address, view_.partitions()))];
    way = std::max(way, now - host.address_turn);
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
  turns_open_.emplace(next_turn_++, TurnWanted{host.key, host.address, turns_.good_for(), now});
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
    if (const auto way = turn_ways_.find(owner); way != turn_ways_.end())
      wanted.good_for =
          std::clamp(2 * way->second, turns_.good_for(), std::max(AddressTurns::horizon, turns_.good_for()));
    if (view_.owns(partition)) {
      const AddressTurns::Turn turn =
          turns_.ask(wanted.address, wanted.good_for, turns_since_[partition].value_or(now), now);
      own.turns.push_back({id, turn.given, static_cast<std::uint64_t>(std::max(turn.at - now, Duration{}).count())});
      continue;
    }
    ring::TurnRequest& request = requests[owner];
    request.asks.push_back({id, wanted.address, static_cast<std::uint64_t>(wanted.good_for.count())});
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
    const Duration good_for(
        static_cast<std::int64_t>(std::min(ask.good_for, static_cast<std::uint64_t>(AddressTurns::horizon.count()))));
    const AddressTurns::Turn turn = turns_.ask(ask.address, good_for, turns_since_[partition].value_or(now), now);
    answer.turns.push_back(
        {ask.id, turn.given, static_cast<std::uint64_t>(std::max(turn.at - now, Duration{}).count())});
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
    // Of its own turns a peer is late by its own doing, which passes.
    Duration& way = turn_ways_[from];
    way = from == id() ? way / 2 : now - asked;
    turns_open_.erase(wanted);
    if (host == nullptr || !host->busy) continue;
    const Duration wait = std::min(Duration(static_cast<std::int64_t>(std::min<std::uint64_t>(
                                       turn.wait, static_cast<std::uint64_t>(turn_wait_max.count())))),
                                   turn_wait_max);
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
