// The links of a page go to the router (link_router.h), with the context in which they were found. A sitemap is
// fetched, archived and recorded like any page; the URLs that it lists are its links. What differs is which files may
// name a sitemap, and its depth:
//
//   - The robots.txt of an origin that has a URL in scope may name sitemaps anywhere, out of scope too (sitemaps.org,
//     "Sitemaps & Cross Submits": a host vouches for them by its robots.txt). The robots.txt of a host that is asked
//     only for such a sitemap names none. The sitemaps are one deeper than the URL that the robots.txt was asked for
//     (a seed's: 1), as if that page linked them. Never 0: that would make them seeds, and seeds widen the scope.
//   - An index may name sitemaps of its own host, out of scope too, and others in scope. They have the index's depth
//     and one redirect more than it. That bounds how deep indexes nest, wherever they are fetched.
//   - Pages that a sitemap lists are admitted when they are in scope, like any link.
//
// Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstddef>
#include <cstdint>

#include "node/links/link_router.h"
#include "node/links/seed_redirects.h"

namespace orbweaver {

class LinkFollower {
 public:
  // What it reads of the peer; all outlive it.
  struct Around {
    const Settings& settings;
    const Canonicaliser& canonicaliser;
    const View& view;
    Partitioner& partitioner;
    const SeedSet& seeds;
    Workbench& bench;
    TrapJudge& traps;
    MirrorTable& mirrors;
    LinkRouter& router;
    SeedRedirects& redirects;
  };
  explicit LinkFollower(Around around) : around_(around) {}

  // How many of one page's entries are done.
  struct Progress {
    std::size_t next = 0;        // of all that it lists: links, sitemaps, requisites
    bool copy = false;           // one more copy of a page (trap rule same_content)
    storage::TracePage trace{};  // under record_links: what is recorded of the links so far
  };
  // The number of entries that are added one by one; results of a search are not.
  static std::size_t count(const PageRead& page);
  // Adds the page's next entries, up to `most` of them; with the last one also its redirect.
  void add(Time now, const FetchJob& job, const PageRead& page, std::size_t most, Progress& progress,
           storage::Commit& commit);
  // Adds the sitemaps that the robots.txt of an origin names. `read`: what its rules were read from; null: no rules.
  void add_named_sitemaps(const RobotsFetch& fetch, const RobotsRead* read, storage::Commit& commit);

  void note_found(std::uint64_t links) { found_ += links; }
  std::uint64_t found() const { return found_; }      // on pages, each once per page
  std::uint64_t skipped() const { return skipped_; }  // other schemes, malformed, nofollow

 private:
  // The page that lists something.
  struct Source {
    const storage::QueuedUrl& queued;
    const CanonicalUrl& url;
    bool in_scope;
  };
  void begin(Time now, const FetchJob& job, const PageRead& page, Progress& progress);
  // Each adds one of the listed entries.
  void add_link(const Source& from, const LinkList& list, std::size_t at, Progress& progress, storage::Commit& commit);
  void add_page(const Source& from, const SitemapList& list, std::size_t at, Progress& progress,
                storage::Commit& commit);
  void add_sitemap(const Source& from, const SitemapIndexList& list, std::size_t at, storage::Commit& commit);
  void add_redirect(const Source& from, const PageRead& page, Progress& progress, storage::Commit& commit);
  void link_to(const CanonicalUrl& url, const LinkContext& way, std::uint8_t flags, Progress& progress,
               storage::Commit& commit);
  bool in_scope(const storage::QueuedUrl& source) const;

  Around around_;
  std::uint64_t found_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace orbweaver
