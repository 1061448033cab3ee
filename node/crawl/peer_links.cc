// The links of a page: scope, link cache, own or foreign; and what a queued record must not exceed.
#include <algorithm>

#include "node/crawl/peer.h"

namespace orbweaver {

using storage::LinkFlag;
using storage::Reason;
using storage::UrlState;

// Before the first link.
void Peer::begin_links(Time now, Job& job, const PageDone& page) {
  counters_.links_found += page.links.size() + page.sitemaps.size() + page.requisites.size();
  counters_.links_skipped += page.skipped_links;
  BenchHost* const host = bench_.find(job.job.host);
  job.copy = host != nullptr && copy_of_many(*host, page.content);
  if (!job.copy && !page.noindex && job.job.queued.visit == 0) tell_sighting(now, job.job.url, page.content);
}

void Peer::add_links(Time now, Job& job, const PageDone& page, std::size_t most, storage::Commit& commit) {
  if (job.next_link == 0) begin_links(now, job, page);
  const auto link_to = [&](const CanonicalUrl& url, const Way& way, std::uint8_t flags) {
    const bool in_scope = route(url, way, commit);
    if (!settings_.record_links) return;
    if (in_scope) flags |= static_cast<std::uint8_t>(LinkFlag::in_scope);
    if (!view_.owns(partitioner_.partition(url))) flags |= static_cast<std::uint8_t>(LinkFlag::foreign);
    job.trace.links.push_back({url.text(), flags});
  };
  const storage::QueuedUrl& source = job.job.queued;
  const auto deeper = static_cast<std::uint16_t>(std::min<int>(source.depth + 1, 0xffff));
  const auto further = static_cast<std::uint8_t>(std::min<int>(source.redirects + 1, 255));
  // A page that was admitted as a requisite has none of its own, or there were no end to it; a stylesheet has, and may
  // be redirected to. Those steps count as redirects do, the first too: without any, depth 0 is a seed's. A page that
  // is a few hops off-site is a page.
  bool in_scope = true;
  if (settings_.page_requisites) {
    const Result<CanonicalUrl> url = CanonicalUrl::of_stored(source.url, source.key.url);
    in_scope = url && (scope_->contains(*url) || (source.off_site > 0 && source.redirects == 0));
  }
  const std::size_t sitemaps = page.links.size();
  const std::size_t requisites = sitemaps + page.sitemaps.size();
  const std::size_t all = requisites + page.requisites.size();
  const std::size_t end = job.next_link + std::min(most, all - job.next_link);
  for (std::size_t& i = job.next_link; i < end; ++i) {
    if (i < sitemaps) {
      const CanonicalUrl& link = page.links[i];
      Way way{deeper, 0, source.off_site, job.copy && link.host() == job.job.url.host(), false, {}};
      note_lastmod(job, page, i, way);
      link_to(link, best_first() ? scored(way, source, page, i) : way, 0);
    } else if (i < requisites) {
      add_listed_sitemap(job, page, i - sitemaps, commit);
    } else if (in_scope || page.stylesheet) {
      const std::uint8_t steps = page.stylesheet ? further : std::uint8_t{1};
      link_to(page.requisites[i - requisites],
              as_good_as({source.depth, steps, source.off_site, false, true, {}}, source),
              static_cast<std::uint8_t>(LinkFlag::requisite));
    }
  }
  if (end < all || !page.redirect) return;
  note_redirect(source.url, *page.redirect, commit);
  ++counters_.links_found;
  if (page.result_page && scope_->is_result_page(*page.redirect)) {
    // Its engine is no site of the crawl, yet that is where it has the results.
    admit(*page.redirect, {source.depth, further, 0, false, false, {}}, commit);
  } else {
    link_to(*page.redirect, as_good_as({source.depth, further, source.off_site, false, !in_scope, {}}, source),
            static_cast<std::uint8_t>(LinkFlag::redirect));
  }
}

// scope -> link cache -> own: a merge, foreign: the outbox. Both become durable with the page.
bool Peer::route(const CanonicalUrl& url, Way way, storage::Commit& commit) {
  const Scope::Place place = scope_->place(url);
  const bool beyond = place == Scope::Place::beyond;
  if (place == Scope::Place::out || (beyond && !way.requisite && way.off_site >= settings_.hops_off_site)) {
    ++counters_.links_out_of_scope;
    return false;
  }
  if (!beyond || settings_.hops_off_site == 0) {
    way.off_site = 0;
  } else {
    way.off_site = static_cast<std::uint8_t>(std::min<int>(way.off_site + 1, storage::off_site_max));
  }
  admit(url, way, commit);
  return true;
}

// What a host's set answers for takes no place in the cache. The cache tells lesser depths from larger ones, not hops
// off-site: only the least of those are remembered.
void Peer::remember(const storage::Merge& link) {
  if (link.record.off_site > 1 || (store_->sets() != nullptr && store_->sets()->covers(link.key))) return;
  link_cache_->insert(link.key.url, link.record.depth);
}

// Whether a link changes nothing, as memory has it: the host's set, if this peer owns the host and is crawling it, or
// else the cache.
bool Peer::known_link(const storage::UrlKey& key, const Way& way) {
  if (way.lastmod != Time{}) return false;
  using Verdict = storage::SeenSets::Verdict;
  Verdict verdict = Verdict::ask;
  if (store_->sets() != nullptr && view_.owns(key.host.partition) && way.redirects <= redirects_allowed())
    verdict = store_->sets()->judge(key, storage::SeenSets::Link{way.depth, way.redirects, way.off_site});
  if (verdict == Verdict::known) ++counters_.links_known_by_set;
  return verdict == Verdict::known || (verdict == Verdict::ask && link_cache_->hit(key.url, way.depth));
}

void Peer::admit(const CanonicalUrl& url, const Way& way, storage::Commit& commit) {
  const storage::UrlKey key{partitioner_.host_key(url), url.digest()};
  const storage::HostKey& host = key.host;
  const bool cached = known_link(key, way);
  std::uint16_t score = way.score;
  if (best_first()) {
    const std::optional<std::uint16_t> news = new_score(url, way);
    if (cached && !news) return;
    if (cached) ++counters_.scores_raised;
    score = news.value_or(way.score);
  } else if (cached) {
    return;
  }
  storage::UrlRecord record;
  record.depth = way.depth;
  record.redirects = way.redirects;
  record.url = url.text();
  record.off_site = way.off_site;
  record.lastmod = way.lastmod;
  record.visit = way.visit;
  record.score = score;
  if (view_.owns(host.partition)) {
    ++counters_.links_own;
    admission_limits(record, Time{});
    visit_if_newer(key, record);
    judge_trap(key, url, record, way.suspect ? std::optional(TrapRule::same_content) : std::nullopt);
    const bool link = is_link(record);
    commit.merges.push_back({key, std::move(record), link});
    return;
  }
  ++counters_.links_foreign;
  std::string bytes;
  storage::encode_record(record, bytes);
  commit.to_outbox.emplace_back(host.partition, std::move(bytes));
  // The outbox is as durable as the seen-set; the commit that follows is checked before anything else happens.
  if (record.off_site <= 1) link_cache_->insert(url.digest(), way.depth);
}

// What a queued record must not exceed, judged by its owner. `now` dates the exclusion (a link's has the epoch: it is
// not a time to wait for).
void Peer::admission_limits(storage::UrlRecord& record, Time now) const {
  if (record.state != UrlState::queued) return;
  Reason reason = Reason::none;
  if (settings_.max_depth > 0 && record.depth > settings_.max_depth) reason = Reason::depth;
  if (record.redirects > redirects_allowed()) reason = Reason::redirects;
  if (reason == Reason::none) return;
  record.state = UrlState::excluded;
  record.reason = reason;
  record.changed = now;
}

}  // namespace orbweaver
