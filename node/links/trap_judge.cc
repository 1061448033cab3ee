#include "node/links/trap_judge.h"

#include <algorithm>

namespace orbweaver {

namespace {

using storage::Reason;
using storage::UrlState;

// Records of a host that are read when its suspects are not known: their keys are digests, so the first are a sample of
// all. At about 2 us each this is 20 ms, once for a host that has suspects.
constexpr std::size_t max_suspects_scan = 10'000;
constexpr std::size_t scan_step = 1024;
// Bodies of one host that are remembered.
constexpr std::size_t max_contents = 32;

}  // namespace

std::optional<TrapRule> TrapJudge::suspicion(const CanonicalUrl& url, std::uint16_t depth) {
  const std::optional<TrapRule> rule = rules_->suspect(url.path_and_query(), depth, *stepped_);
  if (rule || mirrors_->mirror_of(url.host()).empty()) return rule;
  return TrapRule::mirror;
}

// Only a URL that is new, or excluded as a trap so far, can use up the budget.
void TrapJudge::judge(const storage::UrlKey& key, const CanonicalUrl& url, storage::UrlRecord& record,
                      std::optional<TrapRule> found) {
  if (record.state != UrlState::queued || record.depth == 0 || !rules_->any()) return;
  std::optional<TrapRule> rule = suspicion(url, record.depth);
  if (found && (!rule || *rule == TrapRule::mirror)) rule = found;
  if (!rule) return;
  const auto known = store_->find(key);
  if (!known) return;  // the commit will meet the same failure and report it
  if (*known && (*known)->reason != Reason::trap) return;
  if (budgets_.admit(key.host, *rule, settings_->trap_budget, [&] { return count_suspects(key.host); })) return;
  record.state = UrlState::excluded;
  record.reason = Reason::trap;
}

// Suspects of a host that were admitted, by its records. Suspects of same_content cannot be recognised by their URLs:
// after a restart or a hand-off they have their whole budget again.
TrapBudgets::Counts TrapJudge::count_suspects(const storage::HostKey& host) const {
  TrapBudgets::Counts counts{};
  storage::UrlKey cursor{host, {}};
  for (std::size_t seen = 0; seen < max_suspects_scan;) {
    const auto records = store_->scan(host.partition, &cursor, scan_step);
    if (!records) return counts;  // the next commit reports it
    for (const storage::Merge& at : *records) {
      if (at.key.host != host) return counts;
      if (at.record.state == UrlState::excluded || at.record.depth == 0) continue;
      const Result<CanonicalUrl> url = CanonicalUrl::of_stored(at.record.url, at.key.url);
      if (!url) continue;
      if (const auto rule = rules_->suspect(url->path_and_query(), at.record.depth, *stepped_))
        ++counts[static_cast<std::size_t>(*rule)];
    }
    if (records->size() < scan_step) return counts;
    seen += records->size();
    cursor = records->back().key;
  }
  return counts;
}

bool TrapJudge::copy_of_many(BenchHost& host, std::uint64_t content) const {
  if (content == 0 || !rules_->on(TrapRule::same_content)) return false;
  const auto found = std::find_if(host.contents.begin(), host.contents.end(),
                                  [&](const auto& entry) { return entry.first == content; });
  if (found != host.contents.end()) return ++found->second > settings_->trap_same_content;
  // The body seen least often makes room; of several, the oldest.
  if (host.contents.size() >= max_contents)
    host.contents.erase(std::min_element(host.contents.begin(), host.contents.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; }));
  host.contents.emplace_back(content, 1);
  return false;
}

}  // namespace orbweaver
