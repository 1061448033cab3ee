// robots.txt: what is known of one, asking for it, what its answer means (node/robots/robots_fetch.h).
#include <algorithm>
#include <utility>

#include "node/crawl/peer.h"
#include "node/crawl/robots_reader.h"
#include "node/errors/storage_error.h"
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

// Stored files that workers parse at once: their bodies are in memory, and pages wait behind them.
constexpr std::size_t parsing_max = 16;
// A stored robots.txt that is longer is parsed by a worker: this much takes the core some 0.1 ms.
constexpr std::size_t parsed_here_max = 16u << 10;

void note_unreachable(RobotsSlot& slot, const storage::RobotsEntry& known) {
  const bool unreachable = static_cast<RobotsKind>(known.kind) == RobotsKind::unreachable;
  slot.unreachable = unreachable ? storage::robots_reason(known.cause) : Reason::none;
  slot.status = unreachable ? known.status : std::uint16_t{0};
}

// Not the host's word but this peer's own.
bool is_own_refusal(Reason reason) {
  return reason == Reason::address_refused || reason == Reason::address_denied || reason == Reason::no_contact;
}

}  // namespace

RobotsSlot& Peer::robots_slot(BenchHost& host, const std::string& origin) {
  auto slot =
      std::find_if(host.robots.begin(), host.robots.end(), [&](const RobotsSlot& s) { return s.origin == origin; });
  if (slot != host.robots.end()) return *slot;
  // A host has few origins; one with very many ports is not worth remembering all of them.
  if (host.robots.size() >= robots_slots_max) host.robots.erase(host.robots.begin());
  RobotsSlot fresh;
  fresh.origin = origin;
  return *host.robots.insert(host.robots.end(), std::move(fresh));
}

// What is known of an origin's robots.txt, from memory or from the store. Null: nothing, it must be asked for; or, with
// `unread`, the store has this body, which a worker is to parse first.
std::shared_ptr<const RobotsRules> Peer::robots_rules(BenchHost& host, RobotsSlot& slot, Time now,
                                                      std::string& unread) {
  if (slot.rules != nullptr && slot.expires > now)
    if (auto rules = robots_.use(slot.rules)) return rules;
  slot.rules = nullptr;
  storage::HostKey key = host.key;
  auto stored = store_->robots(key, slot.origin);
  if (!stored || !*stored || (*stored)->expires <= now) {
    // The host's part in another partition may have it.
    const auto shared = origins_.find(slot.origin);
    if (shared == origins_.end() || shared->second.slot.expires <= now) return nullptr;
    if (auto rules = robots_.use(shared->second.slot.rules)) {
      slot = shared->second.slot;
      note_robots(now, host, slot, slot.rules);
      return rules;
    }
    key = shared->second.stored;
    stored = store_->robots(key, slot.origin);
    if (!stored || !*stored || (*stored)->expires <= now) return nullptr;
  }
  slot.expires = (*stored)->expires;
  const auto kind = static_cast<RobotsKind>((*stored)->kind);
  note_unreachable(slot, **stored);
  if (kind == RobotsKind::rules && (*stored)->body.size() > parsed_here_max) {
    unread = std::move((*stored)->body);
    return nullptr;
  }
  if (kind == RobotsKind::unreachable) {
    note_robots(now, host, slot, robots_.disallow_all());
  } else if (kind == RobotsKind::allow_all) {
    note_robots(now, host, slot, robots_.allow_all());
  } else {
    ++counters_.robots_parsed_again;
    note_robots(now, host, slot, robots_.put(orbweaver::parse_robots((*stored)->body, settings_.user_agent)));
  }
  return slot.rules->rules;
}

void Peer::note_robots(Time now, BenchHost& host, RobotsSlot& slot, RobotsCache::Handle rules) {
  slot.rules = std::move(rules);
  if (const auto delay = slot.rules->rules->crawl_delay())
    host.crawl_delay = std::max(host.crawl_delay, std::min(*delay, settings_.crawl_delay_max));
  share_robots(host, slot, now);
}

// For the host's parts in other partitions, under partition_by = url: so each peer asks for it once.
void Peer::share_robots(const BenchHost& host, const RobotsSlot& slot, Time now) {
  if (settings_.partition_by != PartitionBy::url) return;
  if (const auto known = origins_.find(slot.origin);
      known != origins_.end() && known->second.slot.expires == slot.expires) {
    known->second.slot.rules = slot.rules;
    return;
  }
  if (origins_.size() >= settings_.hosts_in_memory)
    std::erase_if(origins_, [now](const auto& entry) { return entry.second.slot.expires <= now; });
  if (origins_.size() >= settings_.hosts_in_memory && !origins_.contains(slot.origin)) origins_.erase(origins_.begin());
  origins_.insert_or_assign(slot.origin, SharedRobots{slot, host.key});
}

std::uint64_t Peer::start_robots_job(Time now, FetchKind kind, const BenchHost& host, const RobotsSlot& slot,
                                     CanonicalUrl url) {
  const storage::QueuedUrl asked_for = host.head.empty() ? storage::QueuedUrl{} : host.head.front();
  FetchJob job{next_job_++, kind, std::move(url), asked_for, host.key, slot.origin, slot.hops, slot.attempts, {}};
  const std::uint64_t id = job.id;
  jobs_.emplace(id, Job{std::move(job), false, 0, {}, {}, now, FetchError::none, 0});
  return id;
}

void Peer::start_robots(Time now, BenchHost& host, RobotsSlot& slot, CanonicalUrl url, Commands& out) {
  const std::uint64_t id = start_robots_job(now, FetchKind::robots, host, slot, std::move(url));
  out.push_back(StartFetch{jobs_.at(id).job});
  note_begin(now, host, id);
}

// The host is held as for a fetch.
bool Peer::start_parsing(Time now, const BenchHost& host, const RobotsSlot& slot, std::string body, Commands& out) {
  Result<CanonicalUrl> url = CanonicalUrl::of_stored(slot.origin + "/robots.txt");
  if (!url) return false;
  const std::uint64_t id = start_robots_job(now, FetchKind::stored_robots, host, slot, std::move(*url));
  out.push_back(ParseRobots{jobs_.at(id).job, std::move(body)});
  ++parsing_;
  return true;
}

void Peer::finish_parsing(Time now, const Job& job, const PageDone& page) {
  BenchHost* host = bench_.find(job.job.host);
  if (host == nullptr) return;
  ++counters_.robots_parsed_again;
  RobotsSlot& slot = robots_slot(*host, job.job.origin);
  if (slot.expires > now) note_robots(now, *host, slot, robots_.put(page.robots));
  // Its turn goes on before others begin: where there are more rules than room, those of others would take its place.
  parsed_.push_back(host->key);
}

bool Peer::parsing_may_start() const { return parsing_ < parsing_max; }

// A partition is not handed over while a host of it is held.
void Peer::release_held() {
  for (std::deque<storage::HostKey>* held : {&parsed_, &parse_next_}) {
    for (const storage::HostKey& key : std::exchange(*held, {}))
      if (BenchHost* host = bench_.find(key); host != nullptr && host->busy) bench_.release(*host, host->next_allowed);
  }
}

// A host that was held for its rules, or the next one whose turn has come.
Result<BenchHost*> Peer::next_host(Time now) {
  for (std::deque<storage::HostKey>* held : {&parsed_, &parse_next_}) {
    while (!held->empty() && (held == &parsed_ || parsing_may_start())) {
      BenchHost* host = bench_.find(held->front());
      held->pop_front();
      if (host == nullptr || !host->busy) continue;
      if (!host->foreign) return host;
      bench_.release(*host, host->next_allowed);
    }
  }
  return bench_.take(now);
}

void Peer::note_left_out(const RobotsSlot& slot, Commands& out) {
  const std::size_t left_out = slot.rules->rules->rules_left_out();
  if (left_out == 0) return;
  counters_.robots_rules_left_out += left_out;
  note(out, LogLevel::warning, "crawl", "robots.txt has more rules than are kept",
       {{"origin", slot.origin},
        {"kept", std::to_string(slot.rules->rules->size())},
        {"left_out", std::to_string(left_out)}},
       true);
}

// What it means stands in robots_fetch.h.
void Peer::finish_robots(Time now, Job& job, PageDone* page, Commands& out) {
  BenchHost* host = bench_.find(job.job.host);
  if (host == nullptr) return;
  RobotsSlot& slot = robots_slot(*host, job.job.origin);
  const int status = page == nullptr ? 0 : job.status;
  const bool has_target = page != nullptr && page->redirect && !lifecycle_.stopping() &&
                          !is_bad_port(page->redirect->port(), settings_.allow_ports);
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
  if (is_own_refusal(job.outcome.reason)) {
    // Not the host's word but this peer's own: its pages fail as the robots.txt did. Not stored: the setting may
    // change.
    slot.rules = robots_.allow_all();
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
  if (!stored) return fail_for_good(error_of(stored.error()));
  std::optional<RobotsState> before;
  if (*stored)
    before = RobotsState{.kind = static_cast<RobotsKind>((*stored)->kind),
                         .fetched = (*stored)->fetched,
                         .unreachable_since = (*stored)->unreachable_since};
  const RobotsState state = robots_state(step, before, job.ended);
  storage::RobotsEntry entry{.fetched = state.fetched,
                             .expires = state.expires,
                             .kind = static_cast<std::uint8_t>(state.kind),
                             .unreachable_since = state.unreachable_since};
  if (step == RobotsStep::rules) entry.body = std::move(page->robots_body);
  if (state.same_body) entry.body = (*stored)->body;
  if (state.kind == RobotsKind::unreachable) {
    entry.cause = job.outcome.reason;
    entry.status = static_cast<std::uint16_t>(std::clamp(status, 0, 999));
  }
  note_unreachable(slot, entry);
  if (step == RobotsStep::unreachable)
    note(out, LogLevel::warning, "crawl", "robots.txt unreachable",
         {{"origin", slot.origin},
          {"status", std::to_string(status)},
          {"reason", std::string(storage::reason_name(job.outcome.reason))}},
         true);
  storage::Commit commit;
  if (step != RobotsStep::unreachable)
    links_.add_named_sitemaps(job.job, step == RobotsStep::rules ? page : nullptr, commit);
  commit.robots.emplace_back(host->key, slot.origin, std::move(entry));
  if (!apply(now, commit, out)) return;
  slot.attempts = 0;
  slot.expires = state.expires;
  if (state.kind == RobotsKind::unreachable) {
    note_robots(now, *host, slot, robots_.disallow_all());
  } else if (state.kind == RobotsKind::allow_all) {
    note_robots(now, *host, slot, robots_.allow_all());
  } else if (step == RobotsStep::rules) {
    note_robots(now, *host, slot, robots_.put(page->robots));
    note_left_out(slot, out);
  } else {
    slot.rules = nullptr;  // the older copy: read back at the host's next turn
  }
  host->next_allowed = std::max(host->next_allowed, job.ended + host->crawl_delay);
  if (!keep_clock()) return;
  bench_.release(*host, host->next_allowed);
}

}  // namespace orbweaver
