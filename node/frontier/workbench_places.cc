// Who has a place in memory: hosts come in from disk and make room.
#include <algorithm>

#include "node/errors/storage_error.h"
#include "node/frontier/workbench.h"
#include "node/try.h"

namespace orbweaver {

using storage::HostKey;

namespace {

// At most this many hosts are looked up on disk for one take(), and as many are called back.
constexpr std::size_t discover_step = 128;
// Hosts that are looked at for room per take().
constexpr std::size_t room_step = 4;
// A host serves at least one page for so many URLs of its set.
constexpr std::uint64_t set_urls_a_page = 40;
// A host that is not asked for this long needs no set meanwhile, if others do.
constexpr Duration max_set_wait = std::chrono::minutes{1};

}  // namespace

// Room for one more host, and for the set that it is likely to have.
bool Workbench::room() const {
  return hosts_.size() < config_.max_hosts &&
         (store_->sets() == nullptr || store_->sets()->room_for(hosts_.size() + 1));
}

// The last in the queue, if it may wait elsewhere. Null: none of the last few may. `in_exchange`: for a host that waits
// there now.
BenchHost* Workbench::longest_waiter(bool in_exchange) const {
  if ((waiting_.full() && !in_exchange) || taken_at_ == Time{}) return nullptr;
  auto at = ready_.rbegin();
  for (std::size_t step = 0; step < room_step && at != ready_.rend(); ++step, ++at) {
    BenchHost* const host = std::get<BenchHost*>(*at);
    if (host->queued_at - taken_at_ < config_.long_wait) return nullptr;
    // A wait that was cut would be cut again from then on, whenever the host comes back.
    if (host->pending == 0 && !host->wait_is_cut) return host;
  }
  return nullptr;
}

// One more host may come in, as there is room or as another one waits for long.
bool Workbench::place() const { return room() || longest_waiter() != nullptr; }

void Workbench::make_place() {
  if (room()) return;
  if (BenchHost* const host = longest_waiter()) wait_elsewhere(*host);
}

void Workbench::wait_elsewhere(BenchHost& host) {
  const HostKey key = host.key;
  WaitingHost waiting = WaitingHost::of(host, host.queued_at);
  erase(host);
  waiting_.add(key, std::move(waiting));
}

// Where only sets have no room, a host comes in without one when no other has its turn.
bool Workbench::may_come_in() const { return place() || (hosts_.size() < config_.max_hosts && nobody_due()); }

// Drops sets of hosts that have nothing to do, or nothing soon, when others need the room. A few hosts are looked at
// each time, one after another.
void Workbench::make_room_for_sets() {
  if (store_->sets() == nullptr || !store_->sets()->full()) return;
  for (std::size_t step = 0; step < room_step && !hosts_.empty(); ++step) {
    auto at = hosts_.upper_bound(hand_);
    if (at == hosts_.end()) at = hosts_.begin();
    hand_ = at->first;
    BenchHost& host = *at->second;
    if (host.busy || host.pending > 0 || !store_->sets()->open(host.key)) continue;
    if (host.head.empty() && !host.more_on_disk) {
      erase(host);
    } else if (host.next_allowed - taken_at_ > max_set_wait) {
      store_->close_set(host.key);
    }
  }
}

void Workbench::drop_if_idle(BenchHost& host) {
  if (host.busy || host.pending > 0) return;
  const bool empty = host.head.empty() && !host.more_on_disk;
  // An idle host stays while there is room: its robots.txt and clock are at hand when the next link to it comes.
  if (host.foreign || (empty && (hosts_.size() > config_.max_hosts / 2 || !room()))) erase(host);
}

// The pages that a host serves before it makes room. Its set is read anew when it comes back, so a large one has to be
// worth it.
std::uint64_t Workbench::share_of(const BenchHost& host) const {
  const storage::SeenSets* const sets = store_->sets();
  return std::max<std::uint64_t>(config_.max_head, sets == nullptr ? 0 : sets->entries(host.key) / set_urls_a_page);
}

// Only once an outcome of it is committed, since its clock is then in the store; after a robots.txt, say, the clock is
// only here. Not for hosts on disk while others are parked. The parked ones make room: else hosts that may be asked
// would wait on disk behind them.
void Workbench::put_aside_after_its_share(BenchHost& host) {
  if (host.busy || host.pending > 0 || host.served < config_.max_head) return;
  const bool others = (dormant_ && parked_ == 0) || one_is_due_elsewhere();
  if (!others || room() || host.served < share_of(host)) return;
  if (host.in_ready && !host.wait_is_cut && !waiting_.full()) return wait_elsewhere(host);
  dormant_ = true;
  pass_clean_ = false;
  erase(host);
}

bool Workbench::one_is_due_elsewhere() const {
  const std::optional<Time> due = waiting_.next_due();
  return due && *due <= taken_at_;
}

bool Workbench::wants_hosts() const {
  return dormant_ && may_come_in() && (parked_ == 0 || discoveries_ < max_discoveries);
}

// Hosts on disk and hosts that are due share the free places: those that got the last one are looked at second.
Result<void> Workbench::fill_places() {
  const bool call_back_first = call_back_first_;
  if (call_back_first) ORBWEAVER_TRY(call_back());
  ORBWEAVER_TRY(discover());
  if (!call_back_first) ORBWEAVER_TRY(call_back());
  return {};
}

Result<BenchHost*> Workbench::bring_in(const HostKey& key) {
  BenchHost& host = add_host(key, {});
  host.more_on_disk = true;
  ORBWEAVER_TRY(refill(host));
  return &host;
}

Result<void> Workbench::discover() {
  storage::QueuedHosts hosts = store_->queued_hosts();
  for (std::size_t step = 0; wants_hosts() && step < discover_step; ++step) {
    const auto found = hosts.next(cursor_ ? &*cursor_ : nullptr);
    if (!found) return tl::make_unexpected(error_of(found.error()));
    if (!*found) {
      cursor_.reset();
      if (pass_clean_) dormant_ = false;
      pass_clean_ = true;
      break;
    }
    cursor_ = **found;
    if (!fetches_(cursor_->partition)) {
      cursor_->host.fill(0xff);  // on to the next partition
      continue;
    }
    if (find(*cursor_) != nullptr) continue;
    if (waiting_.find(*cursor_) != nullptr) {
      discoveries_ += ++passed_ % passed_a_discovery == 0 ? 1 : 0;
      continue;
    }
    ++discoveries_;
    call_back_first_ = true;
    make_place();
    Result<BenchHost*> host = bring_in(*cursor_);
    if (!host) return tl::make_unexpected(host.error());
    schedule(**host);
  }
  return {};
}

// Hosts that wait elsewhere come in when they are due.
Result<void> Workbench::call_back() {
  for (std::size_t step = 0; one_is_due_elsewhere() && step < discover_step; ++step) {
    if (!may_come_in() && longest_waiter(true) == nullptr) return {};
    const auto due = waiting_.take(taken_at_);
    if (!fetches_(due->first.partition)) continue;  // found on disk when its partition is back
    if (!may_come_in()) {                           // it waited in less room than the other would need
      waiting_.add(due->first, due->second);
      return {};
    }
    call_back_first_ = false;
    make_place();
    Result<BenchHost*> host = bring_in(due->first);
    if (!host) return tl::make_unexpected(host.error());
    due->second.give_to(**host);
    schedule(**host);
    drop_if_idle(**host);
  }
  return {};
}

}  // namespace orbweaver
