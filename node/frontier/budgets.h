// Budgets: how many pages and bytes are taken from a host, and from a registered domain (max_pages_per_host and its
// like). Pages that are not committed yet count too: no page beyond the budget is asked for, even when the host answers
// all of them.
//
// A host's use is in its place on the workbench and goes with its clock, also to its next holder. A domain's use is a
// row of the domain's partition, written with each outcome; it has copies and goes with the partition. That needs
// partition_by = domain: all hosts of a domain are in one partition (docs/decisions/0028-ring-wide-shares.md). In
// memory are only the domains that are asked now. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "node/crawl/peer_state.h"
#include "node/frontier/workbench.h"
#include "node/url/canonical_url.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class Budgets {
 public:
  // `state` outlives it.
  explicit Budgets(const PeerState& state) : state_(&state) {}

  // No further page of the host, or of the URL's domain, is asked for.
  bool spent(const BenchHost& host, const CanonicalUrl& url) const;
  void page_begins(const CanonicalUrl& url);
  void page_ends(const CanonicalUrl& url);  // it was answered, or given up
  // A page was answered, with `bytes`. The domain's row goes into `commit`. True: the host's use has changed, and its
  // clock must be written. `host`: null when it is no longer on the workbench.
  bool count(const CanonicalUrl& url, std::uint64_t bytes, BenchHost* host, storage::Commit& commit) const;
  ring::TableSizes tables() const;

 private:
  bool of_hosts() const { return state_->settings.max_pages_per_host > 0 || state_->settings.max_bytes_per_host > 0; }
  bool of_domains() const {
    return state_->settings.max_pages_per_domain > 0 || state_->settings.max_bytes_per_domain > 0;
  }
  storage::HostKey key_of(const std::string& domain) const { return state_->partitioner.host_key(domain, 0); }
  storage::SiteUse use_of(const std::string& domain) const;

  const PeerState* state_;
  std::map<std::string, std::uint64_t> under_way_;  // by domain: pages asked for and not yet committed
};

}  // namespace orbweaver
