// Budgets and traps: what of the crawl's scope is judged by the owner of a host, because it takes counting.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "node/crawl/outside_json.h"
#include "node/crawl/peer.h"

namespace orbweaver {

using nlohmann::json;

namespace {

using storage::Reason;
using storage::UrlState;

// Records of a host that are read when its suspects are not known: their keys are digests, so the first are a sample of
// all. At some 2 us each this is 20 ms, once for a host that has suspects.
constexpr std::size_t suspects_scan_max = 10'000;
// Records that one question for traps looks at; the answer says where to go on when there are more.
constexpr std::size_t traps_scan_max = 100'000;
constexpr std::size_t scan_step = 1024;
// Examples of each rule and host.
constexpr std::size_t examples_max = 3;
// URLs queued again in one write.
constexpr std::size_t readmit_step = 4096;
// Bodies of one host that are remembered.
constexpr std::size_t contents_max = 32;

std::string use_text(const Use& use) { return std::to_string(use.pages) + " " + std::to_string(use.bytes); }

Use use_of(const std::string& text) {
  Use use;
  const char* const end = text.data() + text.size();
  const auto pages = std::from_chars(text.data(), end, use.pages);
  if (pages.ec == std::errc{} && pages.ptr != end) std::from_chars(pages.ptr + 1, end, use.bytes);
  return use;
}

bool spent(std::uint64_t used, std::uint64_t allowed) { return allowed > 0 && used >= allowed; }

}  // namespace

// --- results

// The results of a search become seeds, as if they had been given to `orbweaver seed`: they widen the scope everywhere,
// and the word goes out ahead of the URLs. Seeds and URLs are in the write of the page that brought them; a foreign one
// tells its owner by its depth that it is a seed. Only the lists of the scope keep one out.
void Peer::add_results(Time now, const PageDone& page, storage::Commit& commit, Commands& out) {
  counters_.links_found += page.results.size();
  std::vector<std::string> texts;
  std::vector<const CanonicalUrl*> taken;
  std::uint64_t beyond = 0;
  for (const CanonicalUrl& result : page.results) {
    const bool known = seeds_.contains(result.text());
    if (!known && seeds_.size() + texts.size() >= settings_.results_max) {
      ++beyond;
    } else if (!known && scope_->place(result) != Scope::Place::out) {
      texts.push_back(result.text());
      taken.push_back(&result);
    } else if (!known) {
      ++counters_.links_out_of_scope;
    }
  }
  counters_.links_out_of_scope += beyond;
  if (beyond > 0)
    note(out, LogLevel::warning, "crawl", "results left out",
         {{"results", std::to_string(beyond)}, {"results_max", std::to_string(settings_.results_max)}}, true);
  if (texts.empty()) return;
  add_seeds(now, texts, out, &commit);
  for (const ring::PeerId& member : reachable_members())
    if (member != id()) send_seeds(member, texts, out);
  for (const CanonicalUrl* result : taken) admit(*result, {}, commit);
}

// --- budgets

// Pages that are not committed yet count too: of a host that answers them all no page is asked for beyond its budget.
bool Peer::budget_spent(const BenchHost& host, const CanonicalUrl& url) {
  if (host_budgets() && (spent(host.pages + host.pending, settings_.max_pages_per_host) ||
                         spent(host.bytes, settings_.max_bytes_per_host)))
    return true;
  if (!domain_budgets()) return false;
  const Use& use = domain_use(registrable_domain(url.host()));
  return spent(use.pages + use.under_way, settings_.max_pages_per_domain) ||
         spent(use.bytes, settings_.max_bytes_per_domain);
}

Use& Peer::domain_use(const std::string& domain) {
  return domains_.of(domain, [&] {
    const auto stored = store_->meta(std::string(meta_name::domain) + domain);
    return stored && *stored ? use_of(**stored) : Use{};
  });
}

void Peer::page_begins(const CanonicalUrl& url) {
  if (domain_budgets()) ++domain_use(registrable_domain(url.host())).under_way;
}

void Peer::page_ends(const CanonicalUrl& url) {
  if (!domain_budgets()) return;
  Use& use = domain_use(registrable_domain(url.host()));
  if (use.under_way > 0) --use.under_way;  // it is 0 when its domain had made room in memory
}

// The host's clock goes with the outcome of each of its pages, and with it what it has used; replicas hear of that
// (copy_long_waits), so that who takes the host over goes on counting.
void Peer::count_use(Time now, const Job& job, bool counted, storage::Commit& commit) {
  const bool answered = counted && job.status > 0;  // not a detour's first answer
  page_ends(job.job.url);
  if (settings_.max_bytes > 0 && job.bytes > 0) {
    bytes_spent_ += job.bytes;
    commit.meta.emplace_back(meta_name::bytes, std::to_string(bytes_spent_));
  }
  if (domain_budgets() && answered) {
    const std::string domain = registrable_domain(job.job.url.host());
    Use& use = domain_use(domain);
    ++use.pages;
    use.bytes += job.bytes;
    commit.meta.emplace_back(std::string(meta_name::domain) + domain, use_text(use));
  }
  BenchHost* const host = bench_.find(job.job.host);
  if (host == nullptr) return;
  const bool counts = host_budgets() && answered;
  if (counts) {
    ++host->pages;
    host->bytes += job.bytes;
  }
  if (host->next_allowed <= now && !counts) return;
  commit.clocks.emplace_back(host->key, storage::HostClock{host->next_allowed, host->failures,
                                                           std::string(CanonicalUrl::host_in(job.job.queued.url)),
                                                           host->manners.pace, host->pages, host->bytes});
}

// --- traps

// By the URL, and by its host; what a page tells of its links is not known here.
std::optional<TrapRule> Peer::suspicion(const CanonicalUrl& url, std::uint16_t depth) {
  const std::optional<TrapRule> rule = trap_rules_.suspect(url.path_and_query(), depth, stepped_);
  if (rule || mirror_of(url.host()).empty()) return rule;
  return TrapRule::mirror;
}

// What is known already was judged when it was new; only what is new, or excluded for now, can use up the budget.
void Peer::judge_trap(const storage::UrlKey& key, const CanonicalUrl& url, storage::UrlRecord& record,
                      std::optional<TrapRule> found) {
  if (record.state != UrlState::queued || record.depth == 0 || !trap_rules_.any()) return;
  std::optional<TrapRule> rule = suspicion(url, record.depth);
  if (found && (!rule || *rule == TrapRule::mirror)) rule = found;
  if (!rule) return;
  const auto known = store_->find(key);
  if (!known) return;  // the commit will meet the same failure, and say so
  if (*known && (*known)->reason != Reason::trap) return;
  if (trap_book_.admit(key.host, *rule, settings_.trap_budget, [&] { return count_suspects(key.host); })) return;
  record.state = UrlState::excluded;
  record.reason = Reason::trap;
}

// Suspects of a host that were admitted, by its records. Those of same_content cannot be told by their URLs: after a
// restart or a hand-off they have their budget anew.
TrapBook::Counts Peer::count_suspects(const storage::HostKey& host) {
  TrapBook::Counts counts{};
  storage::UrlKey cursor{host, {}};
  for (std::size_t seen = 0; seen < suspects_scan_max;) {
    const auto records = store_->scan(host.partition, &cursor, scan_step);
    if (!records) return counts;  // the next commit says so
    for (const storage::Merge& at : *records) {
      if (at.key.host != host) return counts;
      if (at.record.state == UrlState::excluded || at.record.depth == 0) continue;
      const Result<CanonicalUrl> url = CanonicalUrl::of_stored(at.record.url, at.key.url);
      if (!url) continue;
      if (const auto rule = trap_rules_.suspect(url->path_and_query(), at.record.depth, stepped_))
        ++counts[static_cast<std::size_t>(*rule)];
    }
    if (records->size() < scan_step) return counts;
    seen += records->size();
    cursor = records->back().key;
  }
  return counts;
}

// Whether the host has sent this body trap_same_content times before. In memory only, for the bodies seen of late.
bool Peer::copy_of_many(BenchHost& host, std::uint64_t content) {
  if (content == 0 || !trap_rules_.on(TrapRule::same_content)) return false;
  const auto found = std::find_if(host.contents.begin(), host.contents.end(),
                                  [&](const auto& entry) { return entry.first == content; });
  if (found != host.contents.end()) return ++found->second > settings_.trap_same_content;
  // The one seen least makes room; of several, the oldest.
  if (host.contents.size() >= contents_max)
    host.contents.erase(std::min_element(host.contents.begin(), host.contents.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; }));
  host.contents.emplace_back(content, 1);
  return false;
}

// What the rules have kept out, by host and rule, from the records that this peer holds. {"readmit": true} queues what
// it finds; "host" and "rule" narrow both. "after": {this peer's identity: a URL} goes on where an answer ended that
// was not complete ("last").
json Peer::traps(Time now, const json& body, Commands& out) {
  struct Found {
    std::uint64_t saved = 0;
    std::vector<std::string> examples;
  };
  const Result<bool> readmit = flag_field(body, "readmit");
  const Result<std::string> only_host = text_field(body, "host");
  const Result<std::string> only_rule = text_field(body, "rule");
  if (!readmit) return {{"error", readmit.error().message}};
  for (const auto* field : {&only_host, &only_rule})
    if (!*field) return {{"error", field->error().message}};
  std::map<std::pair<std::string, std::string>, Found> found;  // rule, host
  std::uint64_t queued = 0;
  std::size_t seen = 0;
  std::string last;  // the URL after which to go on; empty: all were looked at
  std::set<std::string> lifted;
  storage::Commit again;
  const auto look_at = [&](const storage::Merge& at) {
    if (at.record.state != UrlState::excluded || at.record.reason != Reason::trap) return;
    const Result<CanonicalUrl> url = CanonicalUrl::of_stored(at.record.url, at.key.url);
    if (!url) return;
    // Nothing in the URL is suspect: it was where it was found. A rule that was on is told whether or not it is now.
    const auto rule = suspicion(*url, at.record.depth);
    const std::string host(url->host());
    const std::string name(trap_rule_name(rule.value_or(TrapRule::same_content)));
    if ((!only_host->empty() && host != *only_host) || (!only_rule->empty() && name != *only_rule)) return;
    Found& entry = found[{name, host}];
    ++entry.saved;
    if (entry.examples.size() < examples_max) entry.examples.push_back(at.record.url);
    if (!*readmit) return;
    if (rule == TrapRule::mirror) lifted.insert(host);
    storage::UrlRecord record = at.record;
    record.state = UrlState::queued;
    record.reason = Reason::none;
    record.changed = Time{};
    again.merges.push_back({at.key, std::move(record)});
  };
  const auto write = [&] {
    queued += again.merges.size();
    const storage::Commit commit = std::exchange(again, {});
    return commit.merges.empty() || apply(now, commit, out);
  };
  std::optional<storage::UrlKey> begin;
  bool nothing = false;  // what is asked for is the rest of others
  if (const auto after = body.find("after"); after != body.end() && after->is_object()) {
    const Result<std::string> text = text_field(*after, id().hex());
    if (!text) return {{"error", text.error().message}};
    const Result<CanonicalUrl> url = CanonicalUrl::parse(*text);
    nothing = !url;
    if (url) begin = storage::UrlKey{partitioner_.host_key(*url), url->digest()};
  }
  for (const std::uint16_t partition : store_->partitions()) {
    if (nothing || !last.empty()) break;
    if (begin && partition < begin->host.partition) continue;
    if (!keeper_.holds(partition) || store_->counts(partition).excluded == 0) continue;
    std::optional<storage::UrlKey> cursor = begin && partition == begin->host.partition ? begin : std::nullopt;
    for (bool more = true; more && last.empty();) {
      const auto records = store_->scan(partition, cursor ? &*cursor : nullptr, scan_step);
      if (!records) return {{"error", records.error().message}};
      for (const storage::Merge& at : *records) look_at(at);
      if (again.merges.size() >= readmit_step && !write()) return {{"error", "the store cannot be written"}};
      seen += records->size();
      more = records->size() == scan_step;
      if (more) cursor = records->back().key;
      if (more && seen >= traps_scan_max) last = records->back().record.url;
    }
  }
  for (const std::string& host : lifted)
    if (!lift_mirror(now, host, out)) return {{"error", "the store cannot be written"}};
  if (!write()) return {{"error", "the store cannot be written"}};
  json list = json::array();
  for (auto& [at, entry] : found) {
    list.push_back({{"rule", at.first}, {"host", at.second}, {"saved", entry.saved}, {"examples", entry.examples}});
    if (const std::string other = mirror_of(at.second); !other.empty()) list.back()["mirror_of"] = other;
  }
  return {{"id", id().hex()},
          {"address", membership_.self().address},
          {"traps", std::move(list)},
          {"last", last},
          {"readmitted", queued}};
}

}  // namespace orbweaver
