#include "node/links/link_follower.h"

#include <algorithm>

#include "node/overloaded.h"
#include "node/robots/robots.h"

namespace orbweaver {

namespace {

using storage::LinkFlag;

// Indexes within each other, redirects between them included. The protocol allows none, real sites have one or two.
constexpr std::uint8_t max_nested_sitemaps = 4;

std::uint16_t one_deeper(const storage::QueuedUrl& source) {
  return static_cast<std::uint16_t>(std::min<int>(source.depth + 1, 0xffff));
}
std::uint8_t one_further(const storage::QueuedUrl& source) {
  return static_cast<std::uint8_t>(std::min<int>(source.steps + 1, 255));
}

// On the first visit of a sitemap its dates say nothing new: the pages are fetched now, or were in this crawl.
void note_lastmod(const storage::QueuedUrl& sitemap, const std::vector<Time>& lastmods, std::size_t entry,
                  LinkContext& context) {
  if (sitemap.visit == 0 || entry >= lastmods.size()) return;
  context.lastmod = lastmods[entry];
  context.sitemap_visit = context.lastmod == Time{} ? std::uint16_t{0} : sitemap.visit;
}

}  // namespace

std::size_t LinkFollower::count(const PageRead& page) {
  return std::visit(Overloaded{[](const LinkList& list) { return list.links.size() + list.requisites.size(); },
                               [](const SitemapList& list) { return list.pages.size(); },
                               [](const SitemapIndexList& list) { return list.sitemaps.size(); },
                               [](const ResultList&) { return std::size_t{0}; }},
                    page.listed);
}

// Called before the first link.
void LinkFollower::begin(Time now, const FetchJob& job, const PageRead& page, Progress& progress) {
  found_ += count(page);
  skipped_ += page.skipped_links;
  BenchHost* const host = around_.bench.find(job.host);
  progress.copy = host != nullptr && around_.traps.copy_of_many(*host, page.content);
  if (!progress.copy && !page.noindex && job.page()->queued.visit == 0)
    around_.mirrors.note_page(now, job.url, page.content);
}

void LinkFollower::link_to(const CanonicalUrl& url, const LinkContext& context, std::uint8_t flags, Progress& progress,
                           storage::Commit& commit) {
  const bool in_scope = around_.router.route(url, context, commit);
  if (!around_.settings.record_links) return;
  if (in_scope) flags |= static_cast<std::uint8_t>(LinkFlag::in_scope);
  if (!around_.view.owns(around_.partitioner.partition(url))) flags |= static_cast<std::uint8_t>(LinkFlag::foreign);
  progress.trace.links.push_back({url.text(), flags});
}

// A page that was admitted as a requisite has no requisites of its own, or there would be no end to them. A stylesheet
// has some, and may be redirected to. Those steps count like redirects, the first too, since depth 0 without steps
// means a seed. A page that is a few hops off-site counts as a page.
bool LinkFollower::in_scope(const storage::QueuedUrl& source) const {
  if (!around_.settings.page_requisites) return true;
  const Result<CanonicalUrl> url = CanonicalUrl::of_stored(source.url, source.key.url);
  return url && (around_.seeds.scope().contains(*url) || (source.off_site > 0 && source.steps == 0));
}

void LinkFollower::add(Time now, const FetchJob& job, const PageRead& page, std::size_t most, Progress& progress,
                       storage::Commit& commit) {
  if (progress.next == 0) begin(now, job, page, progress);
  const storage::QueuedUrl& queued = job.page()->queued;
  const Source from{queued, job.url, in_scope(queued)};
  const std::size_t all = count(page);
  const std::size_t end = progress.next + std::min(most, all - progress.next);
  const auto each = [&](const auto& add_one) {
    for (std::size_t& i = progress.next; i < end; ++i) add_one(i);
  };
  std::visit(
      Overloaded{
          [&](const LinkList& list) { each([&](std::size_t i) { add_link(from, list, i, progress, commit); }); },
          [&](const SitemapList& list) { each([&](std::size_t i) { add_page(from, list, i, progress, commit); }); },
          [&](const SitemapIndexList& list) { each([&](std::size_t i) { add_sitemap(from, list, i, commit); }); },
          [](const ResultList&) {}},
      page.listed);
  if (end == all && page.redirect) add_redirect(from, page, progress, commit);
}

// Adds the links, then the requisites.
void LinkFollower::add_link(const Source& from, const LinkList& list, std::size_t at, Progress& progress,
                            storage::Commit& commit) {
  if (at < list.links.size()) {
    const CanonicalUrl& link = list.links[at];
    LinkContext context{.depth = one_deeper(from.queued),
                        .off_site = from.queued.off_site,
                        .suspect = progress.copy && link.host() == from.url.host()};
    if (around_.router.best_first()) context = around_.router.scored(context, from.queued, list.links, list.scores, at);
    link_to(link, context, 0, progress, commit);
  } else if (from.in_scope || list.stylesheet) {
    const LinkContext context{.depth = from.queued.depth,
                              .steps = list.stylesheet ? one_further(from.queued) : std::uint8_t{1},
                              .off_site = from.queued.off_site,
                              .requisite = true};
    link_to(list.requisites[at - list.links.size()], LinkRouter::as_good_as(context, from.queued),
            static_cast<std::uint8_t>(LinkFlag::requisite), progress, commit);
  }
}

void LinkFollower::add_page(const Source& from, const SitemapList& list, std::size_t at, Progress& progress,
                            storage::Commit& commit) {
  LinkContext context{.depth = one_deeper(from.queued), .off_site = from.queued.off_site};
  note_lastmod(from.queued, list.lastmods, at, context);
  if (around_.router.best_first()) context = around_.router.scored(context, from.queued, list.pages, list.scores, at);
  link_to(list.pages[at], context, 0, progress, commit);
}

void LinkFollower::add_redirect(const Source& from, const PageRead& page, Progress& progress, storage::Commit& commit) {
  around_.redirects.note(from.queued.url, *page.redirect, commit);
  ++found_;
  if (std::holds_alternative<ResultList>(page.listed) && around_.seeds.scope().is_result_page(*page.redirect)) {
    // The search engine is not a site of the crawl, but that is where the results are.
    around_.router.admit(*page.redirect, {.depth = from.queued.depth, .steps = one_further(from.queued)}, commit);
    return;
  }
  const LinkContext context{.depth = from.queued.depth,
                            .steps = one_further(from.queued),
                            .off_site = from.queued.off_site,
                            .requisite = !from.in_scope};
  link_to(*page.redirect, LinkRouter::as_good_as(context, from.queued), static_cast<std::uint8_t>(LinkFlag::redirect),
          progress, commit);
}

void LinkFollower::add_named_sitemaps(const RobotsFetch& fetch, const RobotsRead* read, storage::Commit& commit) {
  if (around_.settings.sitemaps == SitemapUse::off) return;
  const storage::QueuedUrl& asked_for = fetch.asked_for;
  const Result<CanonicalUrl> page = CanonicalUrl::of_stored(asked_for.url, asked_for.key.url);
  if (!page || !around_.seeds.scope().contains(*page)) return;
  const LinkContext context = LinkRouter::as_good_as({.depth = one_deeper(asked_for)}, asked_for);
  if (read != nullptr)
    for (const CanonicalUrl& url : read->sitemaps) around_.router.admit_unless_listed(url, context, commit);
  if (around_.settings.sitemaps != SitemapUse::well_known) return;
  if (read != nullptr && read->parsed.rules->names_sitemaps()) return;
  for (const char* usual : {"/sitemap.xml", "/sitemap_index.xml"})
    if (const Result<CanonicalUrl> url = around_.canonicaliser.parse(fetch.origin + usual))
      around_.router.admit_unless_listed(*url, context, commit);
}

void LinkFollower::add_sitemap(const Source& from, const SitemapIndexList& list, std::size_t at,
                               storage::Commit& commit) {
  const storage::QueuedUrl& index = from.queued;
  if (index.steps >= max_nested_sitemaps) {
    ++skipped_;
    return;
  }
  const CanonicalUrl& url = list.sitemaps[at];
  LinkContext context =
      LinkRouter::as_good_as({.depth = index.depth, .steps = one_further(index), .off_site = index.off_site}, index);
  note_lastmod(index, list.lastmods, at, context);
  if (url.host() == from.url.host()) {
    around_.router.admit_unless_listed(url, context, commit);
  } else {
    around_.router.route(url, context, commit);
  }
}

}  // namespace orbweaver
