// Which host's turn it is: the queues of hosts in memory.
#include "node/frontier/workbench.h"

#include <algorithm>
#include <cstring>

#include "node/errors/storage_error.h"

namespace orbweaver {

using storage::HostKey;
using storage::QueuedUrl;

namespace {

Time not_before(const QueuedUrl& url) { return url.position.not_before(); }

// Rows of the store that are read for a host's set at one of its turns: about 0.4 ms, half the cost of a page whose
// links are looked up one by one. So a host that leaves before its set is complete costs at most half as much again.
constexpr std::size_t set_rows_step = 512;

// Under best_first: one turn of this many goes to the host that has waited longest.
constexpr std::uint64_t fair_every = 4;

// Lower is better. A URL that failed before is the last of its host.
std::uint32_t priority_of(const QueuedUrl& url) {
  const storage::UntriedPlace* const untried = url.position.untried();
  return untried == nullptr ? UINT32_MAX : untried->priority;
}

}  // namespace

std::size_t Workbench::DigestHash::operator()(const storage::UrlDigest& digest) const {
  std::size_t value = 0;
  std::memcpy(&value, digest.data(), sizeof value);
  return value;
}

Workbench::Workbench(Config config, storage::Store& store, std::function<bool(std::uint16_t)> fetches)
    : config_(config), store_(&store), fetches_(std::move(fetches)), waiting_(config.max_waiting_bytes) {}

BenchHost* Workbench::find(const HostKey& key) {
  const auto found = hosts_.find(key);
  return found == hosts_.end() ? nullptr : found->second.get();
}

void Workbench::unschedule(BenchHost& host) {
  if (!host.in_ready) return;
  host.in_ready = false;
  if (host.is_due) {
    due_.erase({host.due_priority, host.turn, &host});
    due_by_time_.erase({host.queued_at, host.turn, &host});
    host.is_due = false;
    return;
  }
  ready_.erase({host.queued_at, host.turn, &host});
}

// Puts a host that is not busy where its next turn is; a host with nothing to do leaves the queue. A host whose turn
// has come keeps its place. A host that is new in the queue comes after those that wait already, however long ago it
// might have been asked.
void Workbench::schedule(BenchHost& host) {
  Time due = host.next_allowed - host.ahead;
  if (!host.head.empty()) due = std::max(due, not_before(host.head.front()));
  const bool waits = !host.busy && !host.foreign && !host.parked && (!host.head.empty() || host.more_on_disk);
  if (waits && host.in_ready && host.queued_at <= taken_at_ && due <= taken_at_) {
    if (!host.is_due || host.head.empty() || host.due_priority == priority_of(host.head.front())) return;
    due_.erase({host.due_priority, host.turn, &host});
    host.due_priority = priority_of(host.head.front());
    due_.insert({host.due_priority, host.turn, &host});
    return;
  }
  unschedule(host);
  if (!waits) return;
  host.queued_at = std::max(due, taken_at_);
  host.turn = next_turn_++;
  host.in_ready = true;
  ready_.insert({host.queued_at, host.turn, &host});
}

bool Workbench::nobody_due() const {
  return due_.empty() && (ready_.empty() || std::get<Time>(*ready_.begin()) > taken_at_);
}

Result<BenchHost*> Workbench::take(Time now) {
  if (Result<BenchHost*> host = take_resumed(now); !host || *host != nullptr) return host;
  if (now - discoveries_since_ >= discoveries_every) {
    discoveries_since_ = now;
    discoveries_ = 0;
  }
  make_room_for_sets();
  if (Result<void> filled = fill_places(); !filled) return tl::make_unexpected(filled.error());
  if (config_.best_first)
    if (Result<void> noted = note_due(now); !noted) return tl::make_unexpected(noted.error());
  while (BenchHost* const host = next_host(now)) {
    unschedule(*host);
    const Result<bool> may = may_be_taken(*host, now);
    if (!may) return tl::make_unexpected(may.error());
    if (!*may) continue;
    host->busy = true;
    ++taken_;
    if (auto filled = store_->fill_set(host->key, set_rows_step); !filled)
      return tl::make_unexpected(error_of(filled.error()));
    return host;
  }
  return nullptr;
}

Result<BenchHost*> Workbench::take_resumed(Time now) {
  taken_at_ = now;
  while (!resumed_.empty() && std::get<Time>(*resumed_.begin()) <= now) {
    BenchHost* const host = std::get<BenchHost*>(*resumed_.begin());
    end_resume(*host);
    const Result<bool> may = may_be_taken(*host, now);
    if (!may) return tl::make_unexpected(may.error());
    if (!*may) continue;
    host->busy = true;
    return host;
  }
  return nullptr;
}

BenchHost* Workbench::next_host(Time now) {
  if (!config_.best_first) {
    if (ready_.empty() || std::get<Time>(*ready_.begin()) > now) return nullptr;
    return std::get<BenchHost*>(*ready_.begin());
  }
  if (due_.empty()) return nullptr;
  return taken_ % fair_every == fair_every - 1 ? std::get<BenchHost*>(*due_by_time_.begin())
                                               : std::get<BenchHost*>(*due_.begin());
}

// For a host that is in no queue now. False: it is now where it belongs, or was erased.
Result<bool> Workbench::may_be_taken(BenchHost& host, Time now) {
  if (!fetches_(host.key.partition)) {
    put_away(host);
    return false;
  }
  if (Result<void> filled = refill(host); !filled) return tl::make_unexpected(filled.error());
  if (host.head.empty()) {
    drop_if_idle(host);
    return false;
  }
  if (not_before(host.head.front()) > now) {
    schedule(host);
    return false;
  }
  return true;
}

// Moves hosts whose turn has come, each with its head, from the queue by time into the queue by score.
Result<void> Workbench::note_due(Time now) {
  while (!ready_.empty() && std::get<Time>(*ready_.begin()) <= now) {
    BenchHost& host = *std::get<BenchHost*>(*ready_.begin());
    unschedule(host);
    const Result<bool> may = may_be_taken(host, now);
    if (!may) return tl::make_unexpected(may.error());
    if (!*may) continue;
    host.in_ready = host.is_due = true;
    host.due_priority = priority_of(host.head.front());
    due_.insert({host.due_priority, host.turn, &host});
    due_by_time_.insert({host.queued_at, host.turn, &host});
  }
  return {};
}

QueuedUrl Workbench::issue(BenchHost& host) {
  QueuedUrl url = discard(host);
  issued_.insert(url.key.url);
  ++host.pending;
  ++host.served;
  return url;
}

QueuedUrl Workbench::discard(BenchHost& host) {
  count(host, host.head.front(), false);
  QueuedUrl url = std::move(host.head.front());
  host.head.pop_front();
  return url;
}

void Workbench::release(BenchHost& host, Time next_allowed) {
  end_resume(host);
  host.busy = false;
  host.next_allowed = std::max(host.next_allowed, next_allowed);
  schedule(host);
  drop_if_idle(host);
}

void Workbench::resume(BenchHost& host, Time at) {
  end_resume(host);
  if (host.foreign) return release(host, at);
  host.busy = true;
  host.next_allowed = std::max(host.next_allowed, at);
  host.resumes = true;
  host.queued_at = host.next_allowed;
  host.turn = next_turn_++;
  resumed_.insert({host.queued_at, host.turn, &host});
}

// After this, the host is no longer acquired, and is in no queue.
void Workbench::end_resume(BenchHost& host) {
  if (!host.resumes) return;
  resumed_.erase({host.queued_at, host.turn, &host});
  host.resumes = false;
  host.busy = false;
}

void Workbench::release_resumed() {
  while (!resumed_.empty()) {
    BenchHost& host = *std::get<BenchHost*>(*resumed_.begin());
    release(host, host.next_allowed);
  }
}

// When hosts wait on disk, half of the places are for parked hosts; further ones go back to disk. A host without a
// fetch in flight, whose time has come, is not missed in memory: its clock has run out.
bool Workbench::park(BenchHost& host) {
  host.busy = false;
  if ((dormant_ || waiting_.size() > 0) && 2 * parked_ >= config_.max_hosts && host.pending == 0) {
    dormant_ = true;
    pass_clean_ = false;
    erase(host);
    return false;
  }
  host.parked = true;
  ++parked_;
  store_->close_set(host.key);  // others have more use for its memory
  return true;
}

void Workbench::end_hold(BenchHost& host) {
  if (!host.parked) return;
  host.parked = false;
  --parked_;
}

void Workbench::unpark(const HostKey& key) {
  BenchHost* host = find(key);
  if (host == nullptr || !host->parked) return;
  end_hold(*host);
  const Time stood_at = host->queued_at;
  schedule(*host);
  if (!host->in_ready || host->queued_at != taken_at_) return;  // it was given a later time meanwhile
  ready_.erase({host->queued_at, host->turn, host});
  host->queued_at = stood_at;
  ready_.insert({host->queued_at, host->turn, host});
}

void Workbench::committed(const storage::UrlKey& key) {
  issued_.erase(key.url);
  if (BenchHost* host = find(key.host); host != nullptr && host->pending > 0) {
    --host->pending;
    if (host->foreign || (host->head.empty() && !host->more_on_disk)) {
      drop_if_idle(*host);
    } else {
      put_aside_after_its_share(*host);
    }
  }
}

void Workbench::delay(const HostKey& key, const storage::HostClock& clock) {
  BenchHost* host = find(key);
  if (host == nullptr) return;
  host->pages = std::max(host->pages, clock.pages);
  host->bytes = std::max(host->bytes, clock.bytes);
  if (host->next_allowed >= clock.next_allowed) return;
  if (host->resumes) return release(*host, clock.next_allowed);
  host->next_allowed = clock.next_allowed;
  if (!host->busy) schedule(*host);
}

bool Workbench::partition_busy(std::uint16_t partition) const {
  for (auto at = lent_.lower_bound({partition, {}}); at != lent_.end() && at->first.partition == partition; ++at)
    if (at->second.out) return true;
  for (auto at = hosts_.lower_bound({partition, {}}); at != hosts_.end() && at->first.partition == partition; ++at)
    if ((at->second->busy && !at->second->resumes) || at->second->pending > 0) return true;
  return false;
}

std::optional<Time> Workbench::next_deadline() const {
  if (wants_hosts()) return Time{};
  std::optional<Time> at;
  for (const auto* queue : {&resumed_, &due_by_time_, &ready_})
    if (!queue->empty()) at = std::min(at.value_or(Time::max()), std::get<Time>(*queue->begin()));
  if (const auto due = waiting_.next_due(); due && may_come_in()) at = std::min(at.value_or(Time::max()), *due);
  if (!due_by_time_.empty()) return at;
  const Time more = discoveries_since_ + discoveries_every;
  if (dormant_ && parked_ > 0 && may_come_in()) at = std::min(at.value_or(more), more);
  return at;
}

}  // namespace orbweaver
