// What happens to a link: it is out of scope, known already, this peer's own (a record in the store) or foreign (an
// entry of the outbox, for its owner). The latter two become durable with the page that brought it. What memory knows
// of links is a hint: a link that it does not know is merged by its owner, however often it comes.
//
// Link cache: foreign links sent recently, and own ones of hosts whose URLs are in no set (storage/seen_sets.h). Under
// order = best, scores go with the links (docs/how-to/orders.md), and a URL in the cache is sent again when its score
// has risen. Bounded by max_link_cache_entries and max_score_entries. Lifetime: the peer's. Thread rule: one owner (the
// peer's loop).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "node/coordination/seed_set.h"
#include "node/crawl/events.h"
#include "node/crawl/partitioner.h"
#include "node/frontier/link_cache.h"
#include "node/frontier/link_scores.h"
#include "node/links/recrawl_walk.h"
#include "node/links/trap_judge.h"
#include "node/replication/dependents.h"
#include "node/replication/view.h"
#include "node/scope/scope.h"
#include "node/settings/settings.h"

namespace orbweaver {

// What the record of a link begins with.
struct LinkContext {
  std::uint16_t depth = 0;
  std::uint8_t steps = 0;
  std::uint8_t off_site = 0;        // hops off-site of the page that it was found on
  bool suspect = false;             // found on one more copy of a page (trap rule same_content)
  bool requisite = false;           // a sub-resource of a page: no seed's host or path keeps it out, though lists do
  Time lastmod{};                   // what a sitemap says, on a later visit of it; else the epoch
  std::uint16_t sitemap_visit = 0;  // with lastmod: the sitemap's visit; the page's own gets no higher by it
  std::uint16_t score = 0;          // under order = best: the score that is sent with it,
  std::uint64_t gives = 0;          // and what the page gives it, by links
};

// True: a filter may treat it as seen. A seed is not a link: a user has named it.
inline bool is_link(const storage::UrlRecord& record) { return record.depth > 0 || record.steps > 0; }

// In which the store queues a host's URLs.
storage::QueueOrder queue_order(CrawlOrder order);

class LinkRouter {
 public:
  // What it reads of the peer; all outlive it.
  struct Around {
    const Settings& settings;
    storage::Store& store;
    const View& view;
    Partitioner& partitioner;
    const SeedSet& seeds;
    TrapJudge& traps;
    const RecrawlWalk& walk;
  };
  // Since the start of the process.
  struct Counters {
    std::uint64_t out_of_scope = 0;
    std::uint64_t known_by_set = 0;
    std::uint64_t own = 0;
    std::uint64_t foreign = 0;
    std::uint64_t scores_raised = 0;  // links to URLs in the cache that were passed on for their scores
  };
  explicit LinkRouter(Around around);

  bool best_first() const { return around_.settings.order == CrawlOrder::best; }

  // Admits it if it is in scope. False: it is not.
  bool route(const CanonicalUrl& url, LinkContext context, storage::Commit& commit);
  // Admits it wherever it is, unless a list of the scope keeps it out.
  void admit_unless_listed(const CanonicalUrl& url, const LinkContext& context, storage::Commit& commit);
  // Admits it whatever the scope says.
  void admit(const CanonicalUrl& url, const LinkContext& context, storage::Commit& commit);

  // From now on notes in `known` where links lead that were known already; null: nowhere.
  void note_known_in(KnownLinks* known) { noting_ = known; }
  // The first `links` records of a commit are durable.
  void remember(const storage::Commit& commit, std::size_t links);
  // Owners have changed: it is no longer known which peer received which link.
  void forget() { cache_.clear(); }

  // Under order = best: adds what the page at `source` gives its link number `link`.
  LinkContext scored(LinkContext context, const storage::QueuedUrl& source, const std::vector<CanonicalUrl>& links,
                     const std::vector<std::uint8_t>& scores, std::size_t link) const;
  // For a page's redirect, requisites and sitemaps: they are as good as the page.
  static LinkContext as_good_as(LinkContext context, const storage::QueuedUrl& source);

  void note_out_of_scope(std::uint64_t links) { counters_.out_of_scope += links; }
  const Counters& counters() const { return counters_; }
  const LinkCache& cache() const { return cache_; }

 private:
  bool is_known(const storage::UrlKey& key, const LinkContext& context);
  bool note_known(const storage::UrlKey& key, bool in_cache) const;
  std::optional<std::uint16_t> new_score(const CanonicalUrl& url, const LinkContext& context);

  Around around_;
  LinkCache cache_;
  KnownLinks* noting_ = nullptr;
  LinkScores scores_;
  Counters counters_;
};

}  // namespace orbweaver
