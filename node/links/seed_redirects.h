// Seeds that redirect out of scope: a crawl of example.org, which redirects to www.example.org, ends at once. The
// target of such a seed is kept to show it to the user: in the row meta_name::redirects_out, a JSON object from seed to
// target, of 64 seeds at most. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "node/coordination/seed_set.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"
#include "ring/table_sizes.h"
#include "storage/store.h"

namespace orbweaver {

class SeedRedirects {
 public:
  // Both outlive it.
  SeedRedirects(const Settings& settings, const SeedSet& seeds) : settings_(&settings), seeds_(&seeds) {}

  // Reads the targets of earlier runs. A row that cannot be read is replaced in `commit`; returns why it cannot.
  Result<std::optional<std::string>> restore(storage::Store& store, storage::Commit& commit);
  // A page was fetched and redirects: the latest visit counts.
  void note(const std::string& page, const CanonicalUrl& target, storage::Commit& commit);

  bool empty() const { return targets_.empty(); }
  // The target of a seed. Empty: none is known, or the crawl's seeds have it in scope by now.
  std::string target_of(const std::string& seed) const;
  // [{"url": seed, "to": target}] of all that lead out.
  nlohmann::json status() const;
  ring::TableSizes tables() const;

 private:
  bool leads_out(const CanonicalUrl& target) const;

  const Settings* settings_;
  const SeedSet* seeds_;
  std::map<std::string, std::string> targets_;  // by seed
};

}  // namespace orbweaver
