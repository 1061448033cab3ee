// Budgets: how many pages and bytes are taken from a host, and by this peer from a registered domain
// (max_pages_per_host and its like). Pages that are not committed yet count too: no page beyond the budget is asked
// for, even when the host answers all of them.
//
// A host's use is in its place on the workbench and goes with its clock, also to its next holder. A domain's use is in
// the meta table (meta_name::domain), so it survives a restart. Domains asked for recently are in memory, max_domains
// at most. It stays with the peer that counted: a domain's hosts have different owners. Lifetime: the peer's. Thread
// rule: one owner (the peer's loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "node/frontier/workbench.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

class Budgets {
 public:
  // Both outlive it.
  Budgets(const Settings& settings, storage::Store& store, std::size_t max_domains)
      : settings_(&settings), store_(&store), max_domains_(max_domains) {}

  // No further page of the host, or of the URL's domain, is asked for.
  bool spent(const BenchHost& host, const CanonicalUrl& url);
  void page_begins(const CanonicalUrl& url);
  void page_ends(const CanonicalUrl& url);  // it was answered, or given up
  // A page was answered, with `bytes`. The domain's row goes into `commit`. True: the host's use has changed, and its
  // clock must be written. `host`: null when it is no longer on the workbench.
  bool count(const CanonicalUrl& url, std::uint64_t bytes, BenchHost* host, storage::Commit& commit);

 private:
  struct DomainUsage {
    std::uint64_t pages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t under_way = 0;  // pages asked for and not yet committed; in memory only
  };
  static DomainUsage usage_of(const std::string& row);
  static std::string row_of(const DomainUsage& use);
  bool of_hosts() const { return settings_->max_pages_per_host > 0 || settings_->max_bytes_per_host > 0; }
  bool of_domains() const { return settings_->max_pages_per_domain > 0 || settings_->max_bytes_per_domain > 0; }
  DomainUsage& domain(const CanonicalUrl& url);

  const Settings* settings_;
  storage::Store* store_;
  std::size_t max_domains_;
  std::map<std::string, DomainUsage> domains_;
};

}  // namespace orbweaver
