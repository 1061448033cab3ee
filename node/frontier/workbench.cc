#include "node/frontier/workbench.h"

#include <algorithm>
#include <cstring>

#include "node/errors/storage_error.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

using storage::HostKey;
using storage::Position;
using storage::QueuedUrl;

namespace {

// At most this many hosts are looked up on disk for one take().
constexpr std::size_t discover_step = 128;

Time not_before(const QueuedUrl& url) { return url.position.not_before(); }

// Rows of the store that are read for a host's set at one of its turns: about 0.4 ms, half of what a page costs whose
// links are looked up one by one. So a host that goes before its set is whole costs half as much again, no more.
constexpr std::size_t set_rows_step = 512;
// Hosts that are looked at for room at one take().
constexpr std::size_t room_step = 4;
// A host that is not asked for this long needs no set meanwhile, if others do.
constexpr Duration set_wait_max = std::chrono::minutes{1};
// While hosts are held, so many come in from disk in a second: most may be held in their turn, and each costs two
// reads. So this takes a twentieth of a core's time at most, and ten thousand hosts on disk are all looked at in 20 s.
constexpr std::size_t discoveries_max = 512;
constexpr Duration discoveries_every = std::chrono::seconds{1};

// Under best_first: of this many turns one goes to the host that has waited longest.
constexpr std::uint64_t fair_every = 4;

// Lower is better. A URL that failed before is the last of its host.
std::uint32_t priority_of(const QueuedUrl& url) {
  const storage::UntriedPlace* const untried = url.position.untried();
  return untried == nullptr ? UINT32_MAX : untried->priority;
}

std::size_t cost_of(const QueuedUrl& url) { return sizeof(QueuedUrl) + url.url.size(); }

bool earlier(const QueuedUrl& a, const Position& b) { return a.position < b; }

}  // namespace

std::size_t Workbench::DigestHash::operator()(const storage::UrlDigest& digest) const {
  std::size_t value = 0;
  std::memcpy(&value, digest.data(), sizeof value);
  return value;
}

Workbench::Workbench(Config config, storage::Store& store, std::function<bool(std::uint16_t)> fetches)
    : config_(config), store_(&store), fetches_(std::move(fetches)) {}

BenchHost* Workbench::find(const HostKey& key) {
  const auto found = hosts_.find(key);
  return found == hosts_.end() ? nullptr : found->second.get();
}

BenchHost& Workbench::add_host(const HostKey& key, std::string_view name) {
  std::unique_ptr<BenchHost>& slot = hosts_[key];
  slot = std::make_unique<BenchHost>();
  slot->key = key;
  slot->name = name;
  slot->next_allowed = earliest_(key.partition, name);
  if (const auto clock = store_->clock(key); clock && *clock) {
    slot->next_allowed = std::max((*clock)->next_allowed, slot->next_allowed);
    slot->failures = (*clock)->failures;
    slot->pacing.pace = (*clock)->pace;
    slot->pages = (*clock)->pages;
    slot->bytes = (*clock)->bytes;
  }
  return *slot;
}

void Workbench::admit(const QueuedUrl& url, std::string_view host_name, bool moved) {
  if (issued_.contains(url.key.url)) return;  // its outcome will find the record as it is then
  BenchHost* host = find(url.key.host);
  if (host == nullptr) {
    if (!fetches_(url.key.host.partition)) return;
    if (hosts_.size() >= config_.hosts_max || !room()) {
      dormant_ = true;
      pass_clean_ = false;
      return;
    }
    host = &add_host(url.key.host, host_name);
    // While hosts sleep on disk this may be one of them: its queue is read from the start. Else this is its only URL.
    if (dormant_) {
      host->more_on_disk = true;
      schedule(*host);
      return;
    }
  }
  if (host->foreign) return;
  if (moved) remove(*host, url.key.url);
  if (host->more_on_disk && host->loaded < url.position) {
    if (!host->busy) schedule(*host);
    return;
  }
  insert(*host, url);
  if (!host->busy) schedule(*host);
}

void Workbench::count(BenchHost& host, const QueuedUrl& url, bool comes) {
  const std::size_t bytes = cost_of(url);
  host.head_bytes = comes ? host.head_bytes + bytes : host.head_bytes - bytes;
  head_bytes_ = comes ? head_bytes_ + bytes : head_bytes_ - bytes;
}

void Workbench::insert(BenchHost& host, const QueuedUrl& url) {
  const auto at = std::lower_bound(host.head.begin(), host.head.end(), url.position, earlier);
  host.head.insert(at, url);
  count(host, url, true);
  host.loaded = std::max(host.loaded, url.position);
  if (host.head.size() > 2 * config_.head_max || host.head_bytes > config_.head_bytes_max) cut(host);
}

// To half of what a head may have: what leaves it is on disk.
void Workbench::cut(BenchHost& host) {
  while (host.head.size() > 1 &&
         (host.head.size() > config_.head_max || host.head_bytes > config_.head_bytes_max / 2)) {
    count(host, host.head.back(), false);
    host.head.pop_back();
    host.more_on_disk = true;
    host.loaded = host.head.back().position;
  }
}

void Workbench::clear_head(BenchHost& host) {
  head_bytes_ -= host.head_bytes;
  host.head_bytes = 0;
  host.head.clear();
}

void Workbench::remove(BenchHost& host, const storage::UrlDigest& url) {
  const auto at =
      std::find_if(host.head.begin(), host.head.end(), [&](const QueuedUrl& queued) { return queued.key.url == url; });
  if (at == host.head.end()) return;
  count(host, *at, false);
  host.head.erase(at);
}

Result<void> Workbench::refill(BenchHost& host) {
  while (host.head.empty() && host.more_on_disk) {
    const bool from_start = host.loaded == Position{};
    auto found = store_->queue_head(host.key, from_start ? nullptr : &host.loaded, config_.head_max);
    if (!found) return tl::make_unexpected(error_of(found.error()));
    host.more_on_disk = found->size() == config_.head_max;
    for (QueuedUrl& url : *found) {
      if (!host.head.empty() && host.head_bytes + cost_of(url) > config_.head_bytes_max / 2) {
        host.more_on_disk = true;
        break;
      }
      host.loaded = url.position;
      if (issued_.contains(url.key.url)) continue;
      count(host, url, true);
      host.head.push_back(std::move(url));
    }
  }
  return {};
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

// Puts a host that is not busy where its next turn is; one with nothing to do leaves the queue. A host whose turn has
// come keeps its place; one that is new in the queue stands behind those that wait already, however long it might have
// been asked.
void Workbench::schedule(BenchHost& host) {
  Time due = host.next_allowed - host.ahead;
  if (!host.head.empty()) due = std::max(due, not_before(host.head.front()));
  const bool waits = !host.busy && !host.foreign && !host.held && (!host.head.empty() || host.more_on_disk);
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

void Workbench::erase(BenchHost& host) {
  unschedule(host);
  end_resume(host);
  end_hold(host);
  clear_head(host);
  store_->close_set(host.key);
  hosts_.erase(HostKey(host.key));
}

// For one more host, and the set that it is likely to have.
bool Workbench::room() const {
  return hosts_.size() < config_.hosts_max &&
         (store_->sets() == nullptr || store_->sets()->room_for(hosts_.size() + 1));
}

bool Workbench::nobody_due() const {
  return due_.empty() && (ready_.empty() || std::get<Time>(*ready_.begin()) > taken_at_);
}

// Sets of hosts that have nothing to do, or nothing soon, go when others want theirs. A few hosts are looked at each
// time, all in turn.
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
    } else if (host.next_allowed - taken_at_ > set_wait_max) {
      store_->close_set(host.key);
    }
  }
}

void Workbench::drop_if_idle(BenchHost& host) {
  if (host.busy || host.pending > 0) return;
  const bool empty = host.head.empty() && !host.more_on_disk;
  // An idle host stays while there is room: its robots.txt and clock are at hand when the next link to it comes.
  if (host.foreign || (empty && (hosts_.size() > config_.hosts_max / 2 || !room()))) erase(host);
}

// Only once an outcome of it is committed: its clock is then in the store. After a robots.txt, say, it is here alone.
// Not while others are held: those make room, or hosts that may be asked would wait on disk behind hosts that may not.
void Workbench::put_aside_after_its_share(BenchHost& host) {
  if (host.busy || host.pending > 0 || host.served < config_.head_max || held_ > 0) return;
  if (!dormant_ || room()) return;
  pass_clean_ = false;
  erase(host);
}

bool Workbench::wants_hosts() const {
  if (!dormant_ || hosts_.size() >= config_.hosts_max || (!room() && !nobody_due())) return false;
  return held_ == 0 || discoveries_ < discoveries_max;
}

Result<void> Workbench::discover() {
  for (std::size_t step = 0; wants_hosts() && step < discover_step; ++step) {
    ++discoveries_;
    const auto found = store_->next_queued_host(cursor_ ? &*cursor_ : nullptr);
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
    BenchHost& host = add_host(*cursor_, {});
    host.more_on_disk = true;
    if (Result<void> filled = refill(host); !filled) return filled;
    if (!host.head.empty()) {
      host.name = CanonicalUrl::host_in(host.head.front().url);
      host.next_allowed = std::max(host.next_allowed, earliest_(host.key.partition, host.name));
    }
    schedule(host);
  }
  return {};
}

Result<BenchHost*> Workbench::take(Time now) {
  taken_at_ = now;
  if (Result<BenchHost*> host = take_resumed(now); !host || *host != nullptr) return host;
  if (now - discoveries_since_ >= discoveries_every) {
    discoveries_since_ = now;
    discoveries_ = 0;
  }
  make_room_for_sets();
  if (wants_hosts())
    if (Result<void> found = discover(); !found) return tl::make_unexpected(found.error());
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

// Of a host that is in no queue now. False: it is where it belongs, or gone.
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

// Hosts whose turn has come, each with its head: from the queue by time into the one by score.
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
  host.busy = true;
  host.next_allowed = std::max(host.next_allowed, at);
  host.resumes = true;
  host.queued_at = host.next_allowed;
  host.turn = next_turn_++;
  resumed_.insert({host.queued_at, host.turn, &host});
}

// It is not acquired any more, and in no queue.
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

// When hosts wait on disk, half of the places is for hosts that are held; others go back to disk. One without a fetch
// in flight, whose time has come, is not missed in memory: its clock is over.
bool Workbench::hold(BenchHost& host) {
  host.busy = false;
  if (dormant_ && 2 * held_ >= config_.hosts_max && host.pending == 0) {
    pass_clean_ = false;
    erase(host);
    return false;
  }
  host.held = true;
  ++held_;
  store_->close_set(host.key);  // others have more use for its memory
  return true;
}

void Workbench::end_hold(BenchHost& host) {
  if (!host.held) return;
  host.held = false;
  --held_;
}

void Workbench::go_on(const HostKey& key) {
  BenchHost* host = find(key);
  if (host == nullptr || !host->held) return;
  end_hold(*host);
  const Time stood_at = host->queued_at;
  schedule(*host);
  if (!host->in_ready || host->queued_at != taken_at_) return;  // it has been told of a later time meanwhile
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

void Workbench::reread(const storage::UrlKey& key) {
  BenchHost* host = find(key.host);
  if (host == nullptr) {
    dormant_ = true;
    pass_clean_ = false;
    return;
  }
  clear_head(*host);
  host->loaded = {};
  host->more_on_disk = true;
  if (!host->busy && !host->foreign) schedule(*host);
}

void Workbench::delay(const HostKey& key, const storage::HostClock& clock) {
  BenchHost* host = find(key);
  if (host == nullptr) return;
  host->pages = std::max(host->pages, clock.pages);
  host->bytes = std::max(host->bytes, clock.bytes);
  if (host->next_allowed >= clock.next_allowed) return;
  host->next_allowed = clock.next_allowed;
  if (!host->busy) schedule(*host);
}

bool Workbench::partition_busy(std::uint16_t partition) const {
  for (auto at = hosts_.lower_bound({partition, {}}); at != hosts_.end() && at->first.partition == partition; ++at)
    if (at->second->busy || at->second->pending > 0) return true;
  return false;
}

void Workbench::withdraw(const storage::UrlKey& key) {
  BenchHost* host = find(key.host);
  if (host == nullptr) return;
  remove(*host, key.url);
  if (host->busy) return;
  schedule(*host);
  drop_if_idle(*host);
}

// Should its partition come back, it is read again.
void Workbench::put_away(BenchHost& host) {
  host.foreign = true;
  end_resume(host);
  store_->close_set(host.key);
  clear_head(host);
  host.more_on_disk = true;
  host.loaded = {};
  unschedule(host);
  drop_if_idle(host);
}

void Workbench::fetchability_changed(const std::vector<std::uint16_t>& partitions) {
  for (const std::uint16_t partition : partitions) {
    std::vector<BenchHost*> hosts;
    for (auto at = hosts_.lower_bound({partition, {}}); at != hosts_.end() && at->first.partition == partition; ++at)
      hosts.push_back(at->second.get());
    const bool fetched = fetches_(partition);
    for (BenchHost* host : hosts) {
      if (!fetched) {
        put_away(*host);
        continue;
      }
      host->foreign = false;
      host->next_allowed = std::max(host->next_allowed, earliest_(partition, host->name));
      if (const auto clock = store_->clock(host->key); clock && *clock) {
        host->next_allowed = std::max(host->next_allowed, (*clock)->next_allowed);
        host->pages = std::max(host->pages, (*clock)->pages);
        host->bytes = std::max(host->bytes, (*clock)->bytes);
      }
      if (!host->busy) schedule(*host);
    }
  }
  if (partitions.empty()) return;
  dormant_ = true;
  pass_clean_ = true;
  cursor_.reset();
}

std::optional<Time> Workbench::next_deadline() const {
  if (wants_hosts()) return Time{};
  std::optional<Time> at;
  for (const auto* queue : {&resumed_, &due_by_time_, &ready_})
    if (!queue->empty()) at = std::min(at.value_or(Time::max()), std::get<Time>(*queue->begin()));
  if (!due_by_time_.empty()) return at;
  const Time more = discoveries_since_ + discoveries_every;
  if (dormant_ && held_ > 0 && hosts_.size() < config_.hosts_max) at = std::min(at.value_or(more), more);
  return at;
}

}  // namespace orbweaver
