// robots.txt: what is known of one, asking for it, what its answer means (node/robots/robots_fetch.h).
#include <algorithm>

#include "node/crawl/peer.h"
#include "node/robots/robots.h"
#include "node/robots/robots_fetch.h"
#include "node/url/bad_ports.h"

namespace orbweaver {

namespace {

using storage::Reason;

// How long an address that this peer may not connect to is remembered as such.
constexpr Duration refused_lifetime = std::chrono::minutes{1};
// Origins of one host (scheme and port) whose robots.txt is kept in memory.
constexpr std::size_t robots_slots_max = 16;

void note_crawl_delay(BenchHost& host, const RobotsSlot& slot, Duration most) {
  if (const auto delay = slot.rules->crawl_delay())
    host.crawl_delay = std::max(host.crawl_delay, std::min(*delay, most));
}

}  // namespace

// What is known of an origin's robots.txt, from memory or from the store.
RobotsSlot& Peer::robots_slot(BenchHost& host, const std::string& origin, Time now) {
  auto slot =
      std::find_if(host.robots.begin(), host.robots.end(), [&](const RobotsSlot& s) { return s.origin == origin; });
  if (slot == host.robots.end()) {
    // A host has few origins; one with very many ports is not worth remembering all of them.
    if (host.robots.size() >= robots_slots_max) host.robots.erase(host.robots.begin());
    slot = host.robots.insert(host.robots.end(), RobotsSlot{origin, nullptr, {}, false, 0, {}, 0});
  }
  if (slot->rules != nullptr && slot->expires <= now) slot->rules = nullptr;
  if (slot->rules != nullptr) return *slot;
  const auto stored = store_->robots(host.key, origin);
  if (!stored || !*stored || (*stored)->expires <= now) {
    // The host's part in another partition may have it.
    const auto shared = origins_.find(origin);
    if (shared == origins_.end() || shared->second.expires <= now) return *slot;
    *slot = shared->second;
    note_crawl_delay(host, *slot, settings_.crawl_delay_max);
    return *slot;
  }
  slot->expires = (*stored)->expires;
  const auto kind = static_cast<RobotsKind>((*stored)->kind);
  slot->unreachable = kind == RobotsKind::unreachable;
  if (slot->unreachable) {
    slot->rules = std::make_shared<RobotsRules>(RobotsRules::disallow_all());
  } else if (kind == RobotsKind::allow_all) {
    slot->rules = std::make_shared<RobotsRules>(RobotsRules::allow_all());
  } else {
    slot->rules = std::make_shared<RobotsRules>(RobotsRules::parse((*stored)->body, settings_.user_agent));
  }
  note_crawl_delay(host, *slot, settings_.crawl_delay_max);
  share_robots(*slot, now);
  return *slot;
}

// For the host's parts in other partitions, under partition_by = url: so each peer asks for it once.
void Peer::share_robots(const RobotsSlot& slot, Time now) {
  if (settings_.partition_by != PartitionBy::url) return;
  if (origins_.size() >= settings_.hosts_in_memory)
    std::erase_if(origins_, [now](const auto& entry) { return entry.second.expires <= now; });
  if (origins_.size() >= settings_.hosts_in_memory && !origins_.contains(slot.origin)) origins_.erase(origins_.begin());
  origins_.insert_or_assign(slot.origin, slot);
}

void Peer::start_robots(Time now, BenchHost& host, RobotsSlot& slot, CanonicalUrl url, Commands& out) {
  const storage::QueuedUrl asked_for = host.head.empty() ? storage::QueuedUrl{} : host.head.front();
  FetchJob job{next_job_++, FetchKind::robots, std::move(url), asked_for, host.key,
               slot.origin, slot.hops,         slot.attempts,  {}};
  Job& started = jobs_.emplace(job.id, Job{std::move(job), false, 0, {}, {}, now, FetchError::none, 0}).first->second;
  out.push_back(StartFetch{started.job});
}

// What it means stands in robots_fetch.h.
void Peer::finish_robots(Time now, Job& job, PageDone* page, Commands& out) {
  BenchHost* host = bench_.find(job.job.host);
  if (host == nullptr) return;
  RobotsSlot& slot = robots_slot(*host, job.job.origin, now);
  const int status = page == nullptr ? 0 : job.status;
  const bool has_target =
      page != nullptr && page->redirect && !stopping_ && !is_bad_port(page->redirect->port(), settings_.allow_ports);
  const RobotsStep step = robots_step({status, has_target, job.job.hops, job.job.attempts < settings_.retries});
  if (step == RobotsStep::follow) {
    // The next request to the host, like any other: after its delay.
    slot.redirect = page->redirect->text();
    ++slot.hops;
    bench_.release(*host, std::max(host->next_allowed, job.ended + host->crawl_delay));
    return;
  }
  slot.redirect.clear();
  slot.hops = 0;
  if (job.outcome.reason == Reason::address_refused) {
    // Not the host's word but this peer's own: its pages fail as the robots.txt did. Not stored: the setting may
    // change.
    slot.rules = std::make_shared<RobotsRules>(RobotsRules::allow_all());
    slot.expires = job.ended + refused_lifetime;
    bench_.release(*host, host->next_allowed);
    return;
  }
  ++counters_.robots_fetched;
  // A host that makes room in memory is read back with its clock; no page's outcome writes it here.
  const auto keep_clock = [&] {
    storage::Commit clock;
    // The host by the name that the crawl knows it by: a detour may have another.
    const Result<CanonicalUrl> root = canonicaliser_.parse(job.job.origin + "/");
    if (host->next_allowed > now && root)
      clock.clocks.emplace_back(host->key,
                                storage::HostClock{host->next_allowed, host->failures, std::string(root->host()),
                                                   host->manners.pace, host->pages, host->bytes});
    return apply(now, clock, out);
  };
  if (step == RobotsStep::retry) {
    ++slot.attempts;
    host->next_allowed = std::max(host->next_allowed, job.ended + job.outcome.wait);
    if (!keep_clock()) return;
    bench_.release(*host, host->next_allowed);
    return;
  }
  const auto stored = store_->robots(host->key, slot.origin);
  if (!stored) return fail_for_good(Error{ErrorCode::io, stored.error().message}, out);
  std::optional<RobotsState> before;
  if (*stored) before = RobotsState{static_cast<RobotsKind>((*stored)->kind), (*stored)->fetched, {}, false};
  const RobotsState state = robots_state(step, before, job.ended);
  storage::RobotsEntry entry{state.fetched, state.expires, static_cast<std::uint8_t>(state.kind), {}};
  if (step == RobotsStep::rules) entry.body = std::move(page->robots_body);
  if (state.same_body) entry.body = (*stored)->body;
  if (step == RobotsStep::unreachable)
    note(out, LogLevel::warning, "crawl", "robots.txt unreachable",
         {{"origin", slot.origin},
          {"status", std::to_string(status)},
          {"reason", std::string(storage::reason_name(job.outcome.reason))}},
         true);
  storage::Commit commit;
  if (step != RobotsStep::unreachable) add_named_sitemaps(job, entry.body, commit);
  commit.robots.emplace_back(host->key, slot.origin, std::move(entry));
  storage::CommitResult result;
  if (!apply(now, commit, out, &result)) return;
  forwarder_.add(result.outbox, view_, now);
  slot.attempts = 0;
  robots_slot(*host, job.job.origin, now);  // reads it back, with its Crawl-delay
  host->next_allowed = std::max(host->next_allowed, job.ended + host->crawl_delay);
  if (!keep_clock()) return;
  bench_.release(*host, host->next_allowed);
}

}  // namespace orbweaver
