// The part of the frontier in memory: each host's head of its queue.
#include <algorithm>

#include "node/errors/storage_error.h"
#include "node/frontier/workbench.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

using storage::HostKey;
using storage::Position;
using storage::QueuedUrl;

namespace {

std::size_t cost_of(const QueuedUrl& url) { return sizeof(QueuedUrl) + url.url.size(); }

bool earlier(const QueuedUrl& a, const Position& b) { return a.position < b; }
bool before(const QueuedUrl& a, const QueuedUrl& b) { return a.position < b.position; }

}  // namespace

BenchHost& Workbench::add_host(const HostKey& key, std::string_view name) {
  std::unique_ptr<BenchHost>& slot = hosts_[key];
  slot = std::make_unique<BenchHost>();
  slot->key = key;
  if (!name.empty()) learn_name(*slot, name);
  if (const auto lent = lent_.find(key); lent != lent_.end()) {
    slot->next_allowed = std::max(slot->next_allowed, lent->second.next_allowed);
    slot->lent_until = lent->second.returned;
  }
  if (const auto clock = store_->clock(key); clock && *clock) {
    slot->next_allowed = std::max(wait_of(key, **clock, now_()), slot->next_allowed);
    slot->failures = (*clock)->failures;
    slot->pacing.pace = (*clock)->pace;
    slot->pages = (*clock)->pages;
    slot->bytes = (*clock)->bytes;
  }
  return *slot;
}

Time Workbench::wait_of(const HostKey& key, const storage::HostClock& stored, Time now) {
  const Time until = stored.until(now);
  if (until < stored.next_allowed) cut_.insert(key);
  return until;
}

// A host that comes in from disk has its name from its first URL, which may come later.
void Workbench::learn_name(BenchHost& host, std::string_view name) const {
  host.name = name;
  host.next_allowed = std::max(host.next_allowed, earliest_(host.key.partition, name));
}

// In memory only: on disk it keeps its place, which is the same for every peer.
void Workbench::limit_wait(QueuedUrl& url) const {
  if (auto* const retry = std::get_if<storage::RetryPlace>(&url.position.place))
    retry->not_before =
        std::min(retry->not_before,
                 now_() + longest_retry_(static_cast<std::uint8_t>(std::max(url.attempts, std::uint8_t{1}) - 1)));
}

void Workbench::admit(const QueuedUrl& queued, std::string_view host_name, bool moved) {
  if (issued_.contains(queued.key.url)) return;  // its outcome will find the record as it is then
  QueuedUrl url = queued;
  limit_wait(url);
  BenchHost* host = find(url.key.host);
  if (host == nullptr) {
    if (waiting_.find(url.key.host) != nullptr) return waiting_.hasten(url.key.host);
    if (!fetches_(url.key.host.partition)) return;
    if (!place()) {
      dormant_ = true;
      pass_clean_ = false;
      return;
    }
    make_place();
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
  if (host.name.empty()) learn_name(host, CanonicalUrl::host_in(url.url));
  const auto at = std::lower_bound(host.head.begin(), host.head.end(), url.position, earlier);
  host.head.insert(at, url);
  count(host, url, true);
  host.loaded = std::max(host.loaded, url.position);
  if (host.head.size() > 2 * config_.max_head || host.head_bytes > config_.max_head_bytes) cut(host);
}

// Cuts a head to half of what it may have: what leaves it is on disk.
void Workbench::cut(BenchHost& host) {
  while (host.head.size() > 1 &&
         (host.head.size() > config_.max_head || host.head_bytes > config_.max_head_bytes / 2)) {
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
    auto found = store_->queue_head(host.key, from_start ? nullptr : &host.loaded, config_.max_head);
    if (!found) return tl::make_unexpected(error_of(found.error()));
    host.more_on_disk = found->size() == config_.max_head;
    for (QueuedUrl& url : *found) {
      if (!host.head.empty() && host.head_bytes + cost_of(url) > config_.max_head_bytes / 2) {
        host.more_on_disk = true;
        break;
      }
      host.loaded = url.position;
      if (host.name.empty()) learn_name(host, CanonicalUrl::host_in(url.url));
      if (issued_.contains(url.key.url)) continue;
      const Time waits_until = url.position.not_before();
      limit_wait(url);
      host.wait_is_cut = host.wait_is_cut || url.position.not_before() < waits_until;
      count(host, url, true);
      host.head.push_back(std::move(url));
    }
    // Where waits were cut, the order by place on disk is not the order by time.
    if (!std::is_sorted(host.head.begin(), host.head.end(), before))
      std::sort(host.head.begin(), host.head.end(), before);
  }
  return {};
}

void Workbench::erase(BenchHost& host) {
  unschedule(host);
  end_resume(host);
  end_hold(host);
  clear_head(host);
  store_->close_set(host.key);
  hosts_.erase(HostKey(host.key));
}

void Workbench::reread(const storage::UrlKey& key) {
  BenchHost* host = find(key.host);
  if (host == nullptr) {
    if (waiting_.find(key.host) != nullptr) return waiting_.hasten(key.host);
    dormant_ = true;
    pass_clean_ = false;
    return;
  }
  clear_head(*host);
  host->loaded = {};
  host->more_on_disk = true;
  if (!host->busy && !host->foreign) schedule(*host);
}

void Workbench::withdraw(const storage::UrlKey& key) {
  BenchHost* host = find(key.host);
  if (host == nullptr) return;
  remove(*host, key.url);
  if (host->busy) return;
  schedule(*host);
  drop_if_idle(*host);
}

// If its partition comes back, it is read again.
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
    if (!fetched) waiting_.forget(partition);
    for (BenchHost* host : hosts) {
      if (!fetched) {
        put_away(*host);
        continue;
      }
      host->foreign = false;
      host->next_allowed = std::max(host->next_allowed, earliest_(partition, host->name));
      if (const auto clock = store_->clock(host->key); clock && *clock) {
        host->next_allowed = std::max(host->next_allowed, wait_of(host->key, **clock, now_()));
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

}  // namespace orbweaver
