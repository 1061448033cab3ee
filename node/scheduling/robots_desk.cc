#include "node/scheduling/robots_desk.h"

#include <algorithm>
#include <utility>

#include "node/crawl/robots_reader.h"
#include "node/errors/storage_error.h"
#include "node/try.h"
#include "node/url/bad_ports.h"

namespace orbweaver {

namespace {

using storage::Reason;

// How long an address that this peer may not connect to is remembered as such.
constexpr Duration refused_lifetime = std::chrono::minutes{1};
// Origins of one host (scheme and port) whose robots.txt is kept in memory.
constexpr std::size_t max_robots_slots = 16;

// Stored files that workers parse at once: their bodies are in memory, and pages wait behind them.
constexpr std::size_t max_parsing = 16;
// A stored robots.txt that is longer is parsed by a worker: this much takes the core about 0.1 ms.
constexpr std::size_t max_parsed_here = 16u << 10;

void note_unreachable(RobotsSlot& slot, const storage::RobotsEntry& known) {
  const bool unreachable = static_cast<RobotsKind>(known.kind) == RobotsKind::unreachable;
  slot.unreachable = unreachable ? storage::robots_reason(known.cause) : Reason::none;
  slot.status = unreachable ? known.status : std::uint16_t{0};
}

// A stored copy may be used. One from a time that has not come yet was written by a clock that was set back since: it
// says nothing about how old it is.
bool usable(const storage::RobotsEntry& known, Time now) {
  return known.expires > now && known.expires <= now + robots_lifetime && known.fetched <= now &&
         known.unreachable_since <= now;
}

// The host did not say this; this peer refuses to ask.
bool is_own_refusal(Reason reason) {
  return reason == Reason::address_refused || reason == Reason::address_denied || reason == Reason::no_contact;
}

}  // namespace

RobotsDesk::RobotsDesk(Around around) : around_(around), cache_(around.state.memory.robots) {}

RobotsSlot& RobotsDesk::slot(BenchHost& host, const std::string& origin) {
  auto slot =
      std::find_if(host.robots.begin(), host.robots.end(), [&](const RobotsSlot& s) { return s.origin == origin; });
  if (slot != host.robots.end()) return *slot;
  // A host has few origins; for one with very many ports it is not worth keeping all of them.
  if (host.robots.size() >= max_robots_slots) host.robots.erase(host.robots.begin());
  RobotsSlot fresh;
  fresh.origin = origin;
  return *host.robots.insert(host.robots.end(), std::move(fresh));
}

std::shared_ptr<const RobotsRules> RobotsDesk::rules(Time now, BenchHost& host, RobotsSlot& slot, std::string& unread) {
  if (slot.rules != nullptr && slot.expires > now)
    if (auto rules = cache_.use(slot.rules)) return rules;
  slot.rules = nullptr;
  storage::HostKey key = host.key;
  auto stored = around_.state.store->robots(key, slot.origin);
  if (!stored || !*stored || !usable(**stored, now)) {
    // The same host in another partition may have it.
    const auto shared = shared_.find(slot.origin);
    if (shared == shared_.end() || shared->second.slot.expires <= now) return nullptr;
    if (auto rules = cache_.use(shared->second.slot.rules)) {
      slot = shared->second.slot;
      note(now, host, slot, slot.rules);
      return rules;
    }
    key = shared->second.stored;
    stored = around_.state.store->robots(key, slot.origin);
    if (!stored || !*stored || !usable(**stored, now)) return nullptr;
  }
  slot.expires = (*stored)->expires;
  const auto kind = static_cast<RobotsKind>((*stored)->kind);
  note_unreachable(slot, **stored);
  if (kind == RobotsKind::rules && (*stored)->body.size() > max_parsed_here) {
    unread = std::move((*stored)->body);
    return nullptr;
  }
  if (kind == RobotsKind::unreachable) {
    note(now, host, slot, cache_.disallow_all());
  } else if (kind == RobotsKind::allow_all) {
    note(now, host, slot, cache_.allow_all());
  } else {
    ++counters_.parsed_again;
    note(now, host, slot, cache_.put(parse_robots((*stored)->body, around_.state.settings.user_agent)));
  }
  return slot.rules->rules;
}

void RobotsDesk::note(Time now, BenchHost& host, RobotsSlot& slot, RobotsCache::Handle rules) {
  slot.rules = std::move(rules);
  if (const auto delay = slot.rules->rules->crawl_delay())
    host.crawl_delay = std::max(host.crawl_delay, around_.state.sites.crawl_delay(*delay));
  share(now, host, slot);
}

void RobotsDesk::share(Time now, const BenchHost& host, const RobotsSlot& slot) {
  const Settings& settings = around_.state.settings;
  if (settings.partition_by != PartitionBy::url) return;
  if (const auto known = shared_.find(slot.origin);
      known != shared_.end() && known->second.slot.expires == slot.expires) {
    known->second.slot.rules = slot.rules;
    return;
  }
  if (shared_.size() >= settings.max_hosts_in_memory)
    std::erase_if(shared_, [now](const auto& entry) { return entry.second.slot.expires <= now; });
  if (shared_.size() >= settings.max_hosts_in_memory && !shared_.contains(slot.origin)) shared_.erase(shared_.begin());
  shared_.insert_or_assign(slot.origin, Shared{slot, host.key});
}

RobotsFetch RobotsDesk::fetch_of(const BenchHost& host, const RobotsSlot& slot) {
  return {.origin = slot.origin,
          .asked_for = host.head.empty() ? storage::QueuedUrl{} : host.head.front(),
          .hops = slot.hops,
          .attempts = slot.attempts};
}

// By the names that the crawl knows hosts by: a canonical redirect may use others.
std::string RobotsDesk::elsewhere(const BenchHost& host, const CanonicalUrl& url) const {
  const Result<CanonicalUrl> root = around_.state.canonicaliser.parse(std::string(url.origin()) + "/");
  const std::string_view name = root ? root->host() : url.host();
  return name == host.name ? std::string() : std::string(name);
}

bool RobotsDesk::start_parsing(const Step& step, const BenchHost& host, const RobotsSlot& slot, std::string body) {
  Result<CanonicalUrl> url = CanonicalUrl::of_stored(slot.origin + "/robots.txt");
  if (!url) return false;
  const Job& job =
      around_.jobs.add(step.now, {.url = std::move(*url), .host = host.key, .what = RobotsParse{slot.origin}});
  step.out.push_back(ParseRobots{job.fetch, std::move(body)});
  ++parsing_;
  return true;
}

void RobotsDesk::finish_parsing(Time now, const Job& job, const RobotsRead& read) {
  --parsing_;
  BenchHost* host = around_.bench.find(job.fetch.host);
  if (host == nullptr) return;
  ++counters_.parsed_again;
  RobotsSlot& slot = RobotsDesk::slot(*host, std::get<RobotsParse>(job.fetch.what).origin);
  if (slot.expires > now) note(now, *host, slot, cache_.put(read.parsed));
  // Its turn continues before others begin: where there are more rules than room, others' rules would take its place.
  if (host->busy) around_.bench.resume(*host, now);
}

bool RobotsDesk::parsing_may_start() const { return parsing_ < max_parsing; }

void RobotsDesk::release_waiting() {
  for (const storage::HostKey& key : std::exchange(to_parse_, {}))
    if (BenchHost* host = around_.bench.find(key); host != nullptr && host->busy)
      around_.bench.release(*host, host->next_allowed);
}

BenchHost* RobotsDesk::next_to_parse() {
  while (!to_parse_.empty() && parsing_may_start()) {
    BenchHost* host = around_.bench.find(to_parse_.front());
    to_parse_.pop_front();
    if (host == nullptr || !host->busy) continue;
    if (!host->foreign) return host;
    around_.bench.release(*host, host->next_allowed);
  }
  return nullptr;
}

void RobotsDesk::tell_left_out(const Step& step, const RobotsSlot& slot) {
  const std::size_t left_out = slot.rules->rules->rules_left_out();
  if (left_out == 0) return;
  counters_.rules_left_out += left_out;
  step.log(LogLevel::warning, "crawl", "robots.txt has more rules than are kept",
           {{"origin", slot.origin},
            {"kept", std::to_string(slot.rules->rules->size())},
            {"left_out", std::to_string(left_out)}},
           true);
}

// A host that makes room in memory is read back with its clock; no page's outcome writes the clock here.
Result<void> RobotsDesk::keep_clock(const Step& step, const Job& job, const BenchHost& host) {
  storage::Commit clock;
  // The name by which the crawl knows the host: a canonical redirect may use another.
  const Result<CanonicalUrl> root = around_.state.canonicaliser.parse(job.fetch.robots()->origin + "/");
  if (host.next_allowed > step.now && root)
    clock.clocks.emplace_back(
        host.key, storage::HostClock{host.next_allowed, host.failures, std::string(root->host()), host.pacing.pace,
                                     host.pages, host.bytes, host.next_allowed - step.now});
  around_.cookies.write(step.now, job.fetch, clock);
  ORBWEAVER_TRY(around_.writer.commit(step, clock));
  return {};
}

// What the answer means is in robots_fetch.h.
Result<void> RobotsDesk::finish(const Step& step, const Job& job, RobotsRead* read) {
  BenchHost* host = around_.bench.find(job.fetch.host);
  if (host == nullptr) return {};
  const Settings& settings = around_.state.settings;
  const RobotsFetch& fetch = *job.fetch.robots();
  RobotsSlot& slot = RobotsDesk::slot(*host, fetch.origin);
  const int status = read == nullptr ? 0 : job.status;
  const bool has_target =
      read != nullptr && read->redirect && !is_bad_port(read->redirect->port(), settings.allow_ports);
  const RobotsStep meaning = robots_step({status, has_target, fetch.hops, fetch.attempts < settings.max_retries});
  if (meaning == RobotsStep::follow) {
    // This is the next request, like any other: after the delay. To another host it is one in that host's turn.
    slot.redirect = read->redirect->text();
    ++slot.hops;
    host->next_allowed = std::max(host->next_allowed, job.ended + host->crawl_delay);
    ORBWEAVER_TRY(keep_clock(step, job, *host));
    around_.bench.release(*host, host->next_allowed);
    return {};
  }
  slot.redirect.clear();
  slot.hops = 0;
  if (is_own_refusal(job.verdict.reason) && fetch.hops == 0) {
    // This peer refused, not the host: its pages fail as the robots.txt did. Not stored: the setting may change. A
    // redirect to what this peer may not ask is not such an answer: the host's own pages would not fail.
    slot.rules = cache_.allow_all();
    slot.expires = job.ended + refused_lifetime;
    around_.bench.release(*host, host->next_allowed);
    return {};
  }
  ++counters_.fetched;
  if (meaning == RobotsStep::retry) {
    ++slot.attempts;
    host->next_allowed = std::max(host->next_allowed, job.ended + job.verdict.wait);
  } else {
    ORBWEAVER_TRY(store_answer(step, job, meaning, read, *host, slot));
    host->next_allowed = std::max(host->next_allowed, job.ended + host->crawl_delay);
  }
  ORBWEAVER_TRY(keep_clock(step, job, *host));
  around_.bench.release(*host, host->next_allowed);
  return {};
}

Result<void> RobotsDesk::store_answer(const Step& step, const Job& job, RobotsStep meaning, RobotsRead* read,
                                      BenchHost& host, RobotsSlot& slot) {
  const auto stored = around_.state.store->robots(host.key, slot.origin);
  if (!stored) return tl::make_unexpected(error_of(stored.error()));
  std::optional<RobotsState> before;
  if (*stored)
    before = RobotsState{.kind = static_cast<RobotsKind>((*stored)->kind),
                         .fetched = std::min((*stored)->fetched, job.ended),
                         .unreachable_since = std::min((*stored)->unreachable_since, job.ended)};
  const RobotsState state = robots_state(meaning, before, job.ended);
  const int status = read == nullptr ? 0 : job.status;
  storage::RobotsEntry entry{.fetched = state.fetched,
                             .expires = state.expires,
                             .kind = static_cast<std::uint8_t>(state.kind),
                             .unreachable_since = state.unreachable_since};
  if (meaning == RobotsStep::rules) entry.body = std::move(read->body);
  if (state.same_body) entry.body = (*stored)->body;
  if (state.kind == RobotsKind::unreachable) {
    entry.cause = job.verdict.reason;
    entry.status = static_cast<std::uint16_t>(std::clamp(status, 0, 999));
  }
  note_unreachable(slot, entry);
  if (meaning == RobotsStep::unreachable)
    step.log(LogLevel::warning, "crawl", "robots.txt unreachable",
             {{"origin", slot.origin},
              {"status", std::to_string(status)},
              {"reason", std::string(storage::reason_name(job.verdict.reason))}},
             true);
  storage::Commit commit;
  if (meaning != RobotsStep::unreachable)
    around_.links.add_named_sitemaps(*job.fetch.robots(), meaning == RobotsStep::rules ? read : nullptr, commit);
  commit.robots.emplace_back(host.key, slot.origin, std::move(entry));
  Written written;
  const bool names = !commit.merges.empty() || !commit.to_outbox.empty();
  if (names && around_.state.settings.replicas > 1)
    written.dependent = around_.replication.begin_sitemaps(host.key.partition);
  ORBWEAVER_TRY(around_.writer.commit(step, commit, written));
  around_.replication.dependents.close(written.dependent);
  slot.attempts = 0;
  slot.expires = state.expires;
  if (state.kind == RobotsKind::unreachable) {
    note(step.now, host, slot, cache_.disallow_all());
  } else if (state.kind == RobotsKind::allow_all) {
    note(step.now, host, slot, cache_.allow_all());
  } else if (meaning == RobotsStep::rules) {
    note(step.now, host, slot, cache_.put(read->parsed));
    tell_left_out(step, slot);
  } else {
    slot.rules = nullptr;  // the older copy: read back at the host's next turn
  }
  return {};
}

}  // namespace orbweaver
