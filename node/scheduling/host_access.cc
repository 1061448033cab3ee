#include "node/scheduling/host_access.h"

#include <algorithm>
#include <utility>

#include "ring/md5.h"

namespace orbweaver {

namespace {

// Without an answer the slot is asked for again, from the peer that owns the address then; each time after twice as
// long, so that a busy owner's answer comes in time.
constexpr Duration slot_timeout = std::chrono::seconds{1};
constexpr Duration max_slot_timeout = std::chrono::seconds{4};
constexpr Duration max_slot_wait = std::chrono::hours{1};
// A slot is asked for before its host is due: by twice the slowest recent round trip and a little more, so that the
// slot is known in time.
constexpr Duration ahead_more = std::chrono::milliseconds{2};
constexpr Duration max_ahead = std::chrono::milliseconds{500};
// A peer that is later for its slots than this is late for reasons other than the round trip.
constexpr Duration max_round_trip = std::chrono::milliseconds{500};

std::uint64_t count_of(Duration duration) { return static_cast<std::uint64_t>(std::max(duration, Duration{}).count()); }

Duration duration_of(std::uint64_t count, Duration most) {
  return Duration(static_cast<std::int64_t>(std::min(count, count_of(most))));
}

ring::Partition partition_of_address(std::string_view address, std::uint32_t partitions) {
  return ring::partition_of(ring::md5("address " + std::string(address)), partitions);
}

}  // namespace

HostAccess::HostAccess(const PeerState& state, const ring::Membership& membership, const View& view, Workbench& bench,
                       const Messenger& messenger, const ring::Tenures& tenures, bool made_ring)
    : settings_(&state.settings),
      membership_(&membership),
      view_(&view),
      sites_(&state.sites),
      bench_(&bench),
      messenger_(&messenger),
      since_(made_ring),
      ids_(state.life),
      leases_(state, view, tenures, since_, bench, messenger, ids_),
      book_(state.settings.address_delay) {}

ring::PeerId HostAccess::owner_of(const std::string& address) const {
  return view_->owner(partition_of_address(address, view_->partitions()));
}

void HostAccess::note_request(Time now, const BenchHost& host) {
  if (const Duration delay = address_delay(host); delay > Duration{} && !host.address.empty())
    own_requests_.begins(host.address, delay, now);
}

Duration HostAccess::ask_ahead_by(const BenchHost& host) const {
  if (settings_->partition_by == PartitionBy::url || host.address.empty() || view_->empty()) return {};
  if (address_delay(host) == Duration{}) return {};
  const ring::PeerId owner = owner_of(host.address);
  if (owner == membership_->self().id) return {};
  const auto known = slot_round_trip_.find(owner);
  return std::min((known == slot_round_trip_.end() ? Duration{} : 2 * known->second) + ahead_more, max_ahead);
}

HostAccess::Verdict HostAccess::may_ask(Time now, BenchHost& host) {
  const bool leased = settings_->partition_by == PartitionBy::url || !host.elsewhere.empty();
  if (leased && !leases_.have(now, host)) return Verdict::asked;
  return slot(now, host);
}

HostAccess::Verdict HostAccess::slot(Time now, BenchHost& host) {
  if (host.address.empty()) return Verdict::now;  // the fetch fails and says why
  if (address_delay(host) == Duration{}) return Verdict::now;
  if (host.address_slot == Time{} || host.address_slot_until < now) {
    // The host came too late for its slot, by a slow network or a busy peer: its next slot must stay valid for longer.
    if (host.address_slot != Time{} && !view_->empty()) {
      Duration& round_trip = slot_round_trip_[owner_of(host.address)];
      round_trip = std::max(round_trip, std::min(now - host.address_slot, max_round_trip));
    }
    if (view_->empty() || owner_of(host.address) != membership_->self().id) {
      ask_ahead(now, host);
      return Verdict::asked;
    }
    if (!take_own_slot(now, host)) return Verdict::later;
  }
  if (const Time at = std::max(host.address_slot, own_requests_.next(host.address)); now < at) {
    host.next_allowed = std::max(host.next_allowed, at);
    return Verdict::later;
  }
  host.address_slot = Time{};
  return Verdict::now;
}

// For an address that this peer owns: no question is sent, so that a slot that is there now leads straight to the
// fetch. False: there is none, and the host must ask again at its next_allowed.
bool HostAccess::take_own_slot(Time now, BenchHost& host) {
  Duration& round_trip = slot_round_trip_[membership_->self().id];
  const Duration delay = address_delay(host);
  const Duration good_for = AddressSlotBook::good_for(delay, 2 * round_trip);
  round_trip -= round_trip / 8;  // a slow moment passes
  const AddressSlotBook::Slot slot =
      own_slot(host.address, {.asker = {}, .delay = delay, .good_for = good_for, .in = {}}, now);
  const Time at = std::min(slot.at, now + max_slot_wait);
  host.address_slot = slot.given ? at : Time{};
  host.address_slot_until = at + good_for;
  if (!slot.given) host.next_allowed = std::max(host.next_allowed, at);
  return slot.given;
}

AddressSlotBook::Slot HostAccess::own_slot(const std::string& address, AddressSlotBook::Ask ask, Time now) {
  const ring::Member& self = membership_->self();
  ask.asker = {self.id, self.incarnation};
  return book_.ask(address, ask, since_.of(partition_of_address(address, view_->partitions()), now), now);
}

void HostAccess::ask_ahead(Time now, BenchHost& host) {
  host.address_slot = Time{};
  const std::uint64_t id = ids_.next();
  unsent_.push_back(id);
  wanted_.emplace(id, SlotWanted{.host = host.key,
                                 .address = host.address,
                                 .delay = address_delay(host),
                                 .due = host.next_allowed,
                                 .asked = now,
                                 .timeout = slot_timeout});
}

// Sends the questions, and repeats those that got no answer.
void HostAccess::tick(const Step& step) {
  const Time now = step.now;
  if ((!wanted_.empty() || !leases_.idle()) && now >= next_look_) {
    next_look_ = now + slot_timeout / 2;
    leases_.tick(now);
    std::vector<std::uint64_t> late;
    for (const auto& [id, wanted] : wanted_)
      if (now - wanted.asked >= wanted.timeout) late.push_back(id);
    // Under a new id: a late answer to the first question does not answer the second.
    for (const std::uint64_t id : late) {
      auto wanted = wanted_.extract(id);
      wanted.key() = ids_.next();
      wanted.mapped().timeout = std::min(2 * wanted.mapped().timeout, max_slot_timeout);
      unsent_.push_back(wanted.key());
      wanted_.insert(std::move(wanted));
    }
  }
  send(step);
  leases_.send(step, membership_->self().id);
}

std::optional<Time> HostAccess::next_deadline() const {
  return wanted_.empty() && leases_.idle() ? std::nullopt : std::optional(next_look_);
}

void HostAccess::send(const Step& step) {
  const Time now = step.now;
  std::map<ring::PeerId, ring::SlotRequest> requests;
  ring::SlotAnswer own;
  for (const std::uint64_t id : std::exchange(unsent_, {})) {
    const auto found = wanted_.find(id);
    if (found == wanted_.end()) continue;
    SlotWanted& wanted = found->second;
    wanted.asked = now;
    const ring::Partition partition = partition_of_address(wanted.address, view_->partitions());
    if (view_->empty()) continue;
    const ring::PeerId owner = view_->owner(partition);
    const auto known = slot_round_trip_.find(owner);
    const Duration round_trip = known == slot_round_trip_.end() ? Duration{} : known->second;
    wanted.good_for = AddressSlotBook::good_for(wanted.delay, 2 * round_trip);
    if (view_->owns(partition)) {
      const AddressSlotBook::Slot slot = own_slot(wanted.address,
                                                  {.asker = {},
                                                   .delay = wanted.delay,
                                                   .good_for = wanted.good_for,
                                                   .in = std::max(wanted.due - now, Duration{})},
                                                  now);
      own.slots.push_back({.id = id, .given = slot.given, .wait = count_of(slot.at - now)});
      continue;
    }
    ring::SlotRequest& request = requests[owner];
    // The answer counts from its arrival: the moment that is asked for is earlier by the round trip.
    request.asks.push_back({.id = id,
                            .address = wanted.address,
                            .good_for = count_of(wanted.good_for),
                            .delay = count_of(wanted.delay),
                            .in = count_of(wanted.due - now - round_trip)});
    if (request.asks.size() >= ring::max_asks) messenger_->send(owner, std::exchange(request, {}), step.out);
  }
  for (auto& [owner, request] : requests)
    if (!request.asks.empty()) messenger_->send(owner, std::move(request), step.out);
  on_answer(now, membership_->self().id, own);
}

void HostAccess::on_request(const Step& step, const ring::Message& in, const ring::SlotRequest& request,
                            const ring::ReplyPath& reply) {
  const Time now = step.now;
  ring::SlotAnswer answer;
  for (const ring::SlotAsk& ask : request.asks) {
    const ring::Partition partition = partition_of_address(ask.address, view_->partitions());
    if (view_->empty() || !view_->owns(partition)) continue;  // the asker will learn the owner and ask again
    const AddressSlotBook::Slot slot = book_.ask(ask.address,
                                                 {.asker = {in.from, in.incarnation},
                                                  .delay = duration_of(ask.delay, settings_->address_delay),
                                                  .good_for = duration_of(ask.good_for, AddressSlotBook::horizon),
                                                  .in = duration_of(ask.in, max_slot_wait)},
                                                 since_.of(partition, now), now);
    answer.slots.push_back({.id = ask.id, .given = slot.given, .wait = count_of(slot.at - now)});
  }
  if (!answer.slots.empty()) messenger_->reply(reply, in.from, std::move(answer), step.out);
}

void HostAccess::on_answer(Time now, const ring::PeerId& from, const ring::SlotAnswer& answer) {
  for (const ring::Slot& slot : answer.slots) {
    const auto wanted = wanted_.find(slot.id);
    if (wanted == wanted_.end()) continue;
    BenchHost* host = bench_->find(wanted->second.host);
    // The owner counts from some moment between the question and now.
    const Time asked = wanted->second.asked;
    const Duration good_for = wanted->second.good_for;
    // A slow moment passes.
    Duration& round_trip = slot_round_trip_[from];
    round_trip = std::max(from == membership_->self().id ? Duration{} : now - asked, round_trip - round_trip / 8);
    wanted_.erase(wanted);
    if (host == nullptr || !host->busy) continue;
    const Duration wait = duration_of(slot.wait, max_slot_wait);
    host->address_slot = slot.given ? now + wait : Time{};
    host->address_slot_until = asked + wait + good_for;
    if (slot.given) {
      bench_->resume(*host, now + wait);
    } else {
      bench_->release(*host, now + wait);
    }
  }
}

void HostAccess::forget_strangers() {
  std::erase_if(slot_round_trip_, [this](const auto& entry) { return membership_->find(entry.first) == nullptr; });
}

}  // namespace orbweaver
