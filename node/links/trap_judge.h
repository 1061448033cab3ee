// Which URLs are suspected of being a trap (traps.h, docs/how-to/traps.md), and what follows: of each rule and host,
// trap_budget suspects are admitted and the others excluded. The owner of the host judges a link when it is admitted; a
// URL that is known already was judged when it was new.
//
// How much of its budgets a host has used is a hint in memory (TrapBudgets), read from the host's records when it is
// not known. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <optional>

#include "node/frontier/workbench.h"
#include "node/links/mirror_table.h"
#include "node/scope/traps.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

class TrapJudge {
 public:
  // All outlive it. `stepped`: the time of the last step, for its year.
  TrapJudge(const Settings& settings, const TrapRules& rules, storage::Store& store, const Time& stepped,
            MirrorTable& mirrors)
      : settings_(&settings),
        rules_(&rules),
        store_(&store),
        stepped_(&stepped),
        mirrors_(&mirrors),
        budgets_(settings.max_hosts_in_memory) {}

  bool any_rule() const { return rules_->any(); }
  // The rule that suspects the URL, by its text, its depth and its host; what a page says about its links is not known
  // here.
  std::optional<TrapRule> suspicion(const CanonicalUrl& url, std::uint16_t depth);
  // A link that is to be admitted here: a new suspect beyond its budget becomes excluded. `found`: the rule that
  // suspects it because of the page that it was found on.
  void judge(const storage::UrlKey& key, const CanonicalUrl& url, storage::UrlRecord& record,
             std::optional<TrapRule> found = std::nullopt);
  // The host has sent a body: true when it has done so trap_same_content times before. In memory only, for the bodies
  // seen recently; changes BenchHost::contents, and nothing else does.
  bool copy_of_many(BenchHost& host, std::uint64_t content) const;

 private:
  TrapBudgets::Counts count_suspects(const storage::HostKey& host) const;

  const Settings* settings_;
  const TrapRules* rules_;
  storage::Store* store_;
  const Time* stepped_;
  MirrorTable* mirrors_;
  TrapBudgets budgets_;
};

}  // namespace orbweaver
