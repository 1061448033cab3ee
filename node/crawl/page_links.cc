#include "node/crawl/page_links.h"

#include <algorithm>

#include "node/robots/robots.h"

namespace orbweaver {

namespace {

using storage::LinkFlag;

// Indexes within each other, redirects between them included. The protocol allows none, real sites have one or two.
constexpr std::uint8_t nested_sitemaps_max = 4;

std::uint16_t one_deeper(const storage::QueuedUrl& source) {
  return static_cast<std::uint16_t>(std::min<int>(source.depth + 1, 0xffff));
}
std::uint8_t one_further(const storage::QueuedUrl& source) {
  return static_cast<std::uint8_t>(std::min<int>(source.steps + 1, 255));
}

// On the first visit of a sitemap its dates say nothing new: the pages are fetched now, or were in this crawl.
void note_lastmod(const FetchJob& job, const PageDone& page, std::size_t entry, Way& way) {
  if (job.queued.visit == 0 || entry >= page.lastmods.size()) return;
  way.lastmod = page.lastmods[entry];
  way.sitemap_visit = way.lastmod == Time{} ? std::uint16_t{0} : job.queued.visit;
}

}  // namespace

// Before the first link.
void PageLinks::begin(Time now, const FetchJob& job, const PageDone& page, Progress& progress) {
  found_ += count(page);
  skipped_ += page.skipped_links;
  BenchHost* const host = around_.bench.find(job.host);
  progress.copy = host != nullptr && around_.traps.copy_of_many(*host, page.content);
  if (!progress.copy && !page.noindex && job.queued.visit == 0) around_.mirrors.note_page(now, job.url, page.content);
}

void PageLinks::link_to(const CanonicalUrl& url, const Way& way, std::uint8_t flags, Progress& progress,
                        storage::Commit& commit) {
  const bool in_scope = around_.router.route(url, way, commit);
  if (!around_.settings.record_links) return;
  if (in_scope) flags |= static_cast<std::uint8_t>(LinkFlag::in_scope);
  if (!around_.view.owns(around_.partitioner.partition(url))) flags |= static_cast<std::uint8_t>(LinkFlag::foreign);
  progress.trace.links.push_back({url.text(), flags});
}

// A page that was admitted as a requisite has none of its own, or there were no end to it; a stylesheet has, and may be
// redirected to. Those steps count like redirects, the first too: without any, depth 0 is a seed's. A page that is a
// few hops off-site is a page.
bool PageLinks::in_scope(const storage::QueuedUrl& source) const {
  if (!around_.settings.page_requisites) return true;
  const Result<CanonicalUrl> url = CanonicalUrl::of_stored(source.url, source.key.url);
  return url && (around_.scope().contains(*url) || (source.off_site > 0 && source.steps == 0));
}

void PageLinks::add(Time now, const FetchJob& job, const PageDone& page, std::size_t most, Progress& progress,
                    storage::Commit& commit) {
  if (progress.next == 0) begin(now, job, page, progress);
  const storage::QueuedUrl& source = job.queued;
  const bool source_in_scope = in_scope(source);
  const std::size_t sitemaps = page.links.size();
  const std::size_t requisites = sitemaps + page.sitemaps.size();
  const std::size_t all = requisites + page.requisites.size();
  const std::size_t end = progress.next + std::min(most, all - progress.next);
  for (std::size_t& i = progress.next; i < end; ++i) {
    if (i < sitemaps) {
      const CanonicalUrl& link = page.links[i];
      Way way{.depth = one_deeper(source),
              .off_site = source.off_site,
              .suspect = progress.copy && link.host() == job.url.host()};
      note_lastmod(job, page, i, way);
      link_to(link, around_.router.best_first() ? around_.router.scored(way, source, page, i) : way, 0, progress,
              commit);
    } else if (i < requisites) {
      add_listed_sitemap(job, page, i - sitemaps, commit);
    } else if (source_in_scope || page.stylesheet) {
      const Way way{.depth = source.depth,
                    .steps = page.stylesheet ? one_further(source) : std::uint8_t{1},
                    .off_site = source.off_site,
                    .requisite = true};
      link_to(page.requisites[i - requisites], LinkRouter::as_good_as(way, source),
              static_cast<std::uint8_t>(LinkFlag::requisite), progress, commit);
    }
  }
  if (end == all && page.redirect) add_redirect(job, page, source_in_scope, progress, commit);
}

void PageLinks::add_redirect(const FetchJob& job, const PageDone& page, bool in_scope, Progress& progress,
                             storage::Commit& commit) {
  const storage::QueuedUrl& source = job.queued;
  around_.redirects.note(source.url, *page.redirect, commit);
  ++found_;
  if (page.result_page && around_.scope().is_result_page(*page.redirect)) {
    // Its engine is no site of the crawl, yet that is where it has the results.
    around_.router.admit(*page.redirect, {.depth = source.depth, .steps = one_further(source)}, commit);
    return;
  }
  const Way way{
      .depth = source.depth, .steps = one_further(source), .off_site = source.off_site, .requisite = !in_scope};
  link_to(*page.redirect, LinkRouter::as_good_as(way, source), static_cast<std::uint8_t>(LinkFlag::redirect), progress,
          commit);
}

void PageLinks::add_named_sitemaps(const FetchJob& job, const PageDone* page, storage::Commit& commit) {
  if (around_.settings.sitemaps == SitemapUse::off) return;
  const Result<CanonicalUrl> asked = CanonicalUrl::of_stored(job.queued.url, job.queued.key.url);
  if (!asked || !around_.scope().contains(*asked)) return;
  const Way way = LinkRouter::as_good_as({.depth = one_deeper(job.queued)}, job.queued);
  if (page != nullptr)
    for (const CanonicalUrl& url : page->sitemaps) around_.router.admit_unless_listed(url, way, commit);
  if (around_.settings.sitemaps != SitemapUse::usual) return;
  if (page != nullptr && page->robots.rules->names_sitemaps()) return;
  for (const char* usual : {"/sitemap.xml", "/sitemap_index.xml"})
    if (const Result<CanonicalUrl> url = around_.canonicaliser.parse(job.origin + usual))
      around_.router.admit_unless_listed(*url, way, commit);
}

void PageLinks::add_listed_sitemap(const FetchJob& job, const PageDone& page, std::size_t entry,
                                   storage::Commit& commit) {
  const storage::QueuedUrl& index = job.queued;
  if (index.steps >= nested_sitemaps_max) {
    ++skipped_;
    return;
  }
  const CanonicalUrl& url = page.sitemaps[entry];
  Way way =
      LinkRouter::as_good_as({.depth = index.depth, .steps = one_further(index), .off_site = index.off_site}, index);
  note_lastmod(job, page, entry, way);
  if (url.host() == job.url.host()) {
    around_.router.admit_unless_listed(url, way, commit);
  } else {
    around_.router.route(url, way, commit);
  }
}

}  // namespace orbweaver
