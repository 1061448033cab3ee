// Sitemaps in the crawl. A sitemap is fetched, archived and recorded like any page; what it lists are its links. What
// differs is who may name one, and how deep that is:
//
//   - The robots.txt of an origin that has a URL in scope may name sitemaps anywhere, out of scope too (sitemaps.org,
//     "Sitemaps & Cross Submits": a host vouches for them by its robots.txt). That of a host which is asked only for
//     such a sitemap names none. They are one deeper than the URL that the robots.txt was asked for (a seed's: 1), as
//     if that page linked them. Never 0: that would make a seed of them, and seeds widen the scope.
//   - An index may name sitemaps of its own host, out of scope too, and others in scope. They have the index's depth
//     and one redirect more than it: that bounds how deep indexes lie within each other, wherever they are fetched.
//   - Pages that a sitemap lists are admitted when they are in scope, like any link.
#include <algorithm>

#include "node/crawl/peer.h"
#include "node/robots/robots.h"

namespace orbweaver {

namespace {

// Indexes within each other, redirects on the way included. The protocol allows none, real sites have one or two.
constexpr std::uint8_t nested_sitemaps_max = 4;

}  // namespace

// Wherever it is, unless a list keeps it out.
void Peer::admit_sitemap(const CanonicalUrl& url, const Way& at, storage::Commit& commit) {
  if (scope_->place(url) == Scope::Place::out) {
    ++counters_.links_out_of_scope;
    return;
  }
  admit(url, at, commit);
}

// `page`: what its rules were read from; null: there are none.
void Peer::add_named_sitemaps(const Job& job, const PageDone* page, storage::Commit& commit) {
  if (settings_.sitemaps == SitemapUse::off) return;
  const storage::QueuedUrl& asked_for = job.job.queued;
  const Result<CanonicalUrl> asked = CanonicalUrl::of_stored(asked_for.url, asked_for.key.url);
  if (!asked || !scope_->contains(*asked)) return;
  const auto deeper = static_cast<std::uint16_t>(std::min<int>(asked_for.depth + 1, 0xffff));
  if (page != nullptr)
    for (const CanonicalUrl& url : page->sitemaps)
      admit_sitemap(url, as_good_as({deeper, 0, 0, false, false, {}}, asked_for), commit);
  if (settings_.sitemaps != SitemapUse::usual || (page != nullptr && page->robots.rules->names_sitemaps())) return;
  for (const char* usual : {"/sitemap.xml", "/sitemap_index.xml"})
    if (const Result<CanonicalUrl> url = canonicaliser_.parse(job.job.origin + usual))
      admit_sitemap(*url, as_good_as({deeper, 0, 0, false, false, {}}, asked_for), commit);
}

void Peer::add_listed_sitemap(const Job& job, const PageDone& page, std::size_t entry, storage::Commit& commit) {
  const storage::QueuedUrl& index = job.job.queued;
  if (index.redirects >= nested_sitemaps_max) {
    ++counters_.links_skipped;
    return;
  }
  const auto nested = static_cast<std::uint8_t>(index.redirects + 1);
  const CanonicalUrl& url = page.sitemaps[entry];
  Way way = as_good_as({index.depth, nested, index.off_site, false, false, {}}, index);
  note_lastmod(job, page, entry, way);
  if (url.host() == job.job.url.host()) {
    admit_sitemap(url, way, commit);
  } else {
    route(url, way, commit);
  }
}

}  // namespace orbweaver
