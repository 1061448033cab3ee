#include "node/links/link_router.h"

#include <utility>

#include "node/crawl/link_limits.h"

namespace orbweaver {

namespace {

// Under best_by = topic, the score of a seed: the maximum.
constexpr std::uint16_t max_topic_score = 255;

}  // namespace

storage::QueueOrder queue_order(CrawlOrder order) {
  switch (order) {
    case CrawlOrder::breadth:
      return storage::QueueOrder::breadth;
    case CrawlOrder::depth:
      return storage::QueueOrder::depth;
    case CrawlOrder::best:
      return storage::QueueOrder::best;
  }
  return storage::QueueOrder::breadth;
}

LinkRouter::LinkRouter(Around around)
    : around_(around),
      cache_(around_.settings.max_link_cache_entries),
      scores_(best_first() ? around_.settings.max_score_entries : 0) {
  around_.store.set_order(queue_order(around_.settings.order));
}

bool LinkRouter::route(const CanonicalUrl& url, LinkContext context, storage::Commit& commit) {
  const std::uint32_t max_hops = around_.settings.max_hops_off_site;
  const Scope::Place place = around_.seeds.scope().place(url);
  const bool off_site = place == Scope::Place::off_site;
  if (place == Scope::Place::out || (off_site && !context.requisite && context.off_site >= max_hops)) {
    ++counters_.out_of_scope;
    return false;
  }
  if (!off_site || max_hops == 0) {
    context.off_site = 0;
  } else {
    context.off_site = static_cast<std::uint8_t>(std::min<int>(context.off_site + 1, storage::max_off_site));
  }
  admit(url, context, commit);
  return true;
}

void LinkRouter::admit_unless_listed(const CanonicalUrl& url, const LinkContext& context, storage::Commit& commit) {
  if (around_.seeds.scope().place(url) == Scope::Place::out) {
    ++counters_.out_of_scope;
    return;
  }
  admit(url, context, commit);
}

// Whether a link changes nothing, as far as memory knows: by the host's set, if this peer owns the host and is crawling
// it, or else by the cache.
bool LinkRouter::is_known(const storage::UrlKey& key, const LinkContext& context) {
  if (context.lastmod != Time{}) return false;
  using Verdict = storage::SeenSets::Verdict;
  Verdict verdict = Verdict::ask;
  const storage::SeenSets* const sets = around_.store.sets();
  if (sets != nullptr && around_.view.owns(key.host.partition) && context.steps <= max_steps(around_.settings))
    verdict = sets->judge(key, storage::SeenSets::Link{context.depth, context.steps, context.off_site});
  if (verdict == Verdict::known) ++counters_.known_by_set;
  const bool in_cache = verdict == Verdict::ask && cache_.hit(key.url, context.depth);
  if (verdict != Verdict::known && !in_cache) return false;
  return noting_ == nullptr || note_known(key, in_cache);
}

// False: it may lack copies, so it does not count as known. The outbox's numbers rise by one from entry to entry; the
// cache keeps the lower half of them.
bool LinkRouter::note_known(const storage::UrlKey& key, bool in_cache) const {
  const ring::Partition partition = key.host.partition;
  if (around_.view.owns(partition)) {
    if (!noting_->own.empty() && noting_->own.back() == partition) return true;
    if (!noting_->copied(partition)) return false;
    noting_->own.push_back(partition);
    return true;
  }
  if (!in_cache) return true;
  const std::uint64_t next = around_.store.next_outbox();
  const std::uint64_t age = static_cast<std::uint32_t>(static_cast<std::uint32_t>(next) - cache_.mark());
  if (age <= next) noting_->foreign.push_back(next - age);
  return true;
}

void LinkRouter::admit(const CanonicalUrl& url, const LinkContext& context, storage::Commit& commit) {
  const storage::UrlKey key{around_.partitioner.host_key(url), url.digest()};
  const bool known = is_known(key, context);
  std::uint16_t score = context.score;
  if (best_first()) {
    const std::optional<std::uint16_t> news = new_score(url, context);
    if (known && !news) return;
    if (known) ++counters_.scores_raised;
    score = news.value_or(context.score);
  } else if (known) {
    return;
  }
  storage::UrlRecord record;
  record.depth = context.depth;
  record.steps = context.steps;
  record.url = url.text();
  record.off_site = context.off_site;
  record.lastmod = context.lastmod;
  record.sitemap_visit = context.sitemap_visit;
  record.score = score;
  if (around_.view.owns(key.host.partition)) {
    ++counters_.own;
    limit_link(record, around_.settings, Time{});  // since when: not known
    around_.walk.visit_if_newer(key, record);
    around_.traps.judge(key, url, record, context.suspect ? std::optional(TrapRule::same_content) : std::nullopt);
    const bool link = is_link(record);
    commit.merges.push_back({key, std::move(record), link});
    return;
  }
  ++counters_.foreign;
  std::string bytes;
  storage::encode_record(record, bytes);
  commit.to_outbox.emplace_back(key.host.partition, std::move(bytes));
  // The outbox is as durable as the seen-set; the commit that follows is checked before anything else happens.
  const std::uint64_t number = around_.store.next_outbox() + commit.to_outbox.size() - 1;
  if (record.off_site <= 1) cache_.insert(url.digest(), context.depth, static_cast<std::uint32_t>(number));
}

// A link that a host's set covers takes no place in the cache. The cache distinguishes depths, but not hops off-site:
// only links with at most one hop are remembered.
void LinkRouter::remember(const storage::Commit& commit, std::size_t links) {
  const storage::SeenSets* const sets = around_.store.sets();
  for (std::size_t i = 0; i < links; ++i) {
    const storage::Merge& link = commit.merges[i];
    if (link.record.off_site > 1 || (sets != nullptr && sets->covers(link.key))) continue;
    cache_.insert(link.key.url, link.record.depth);
  }
}

LinkContext LinkRouter::scored(LinkContext context, const storage::QueuedUrl& source,
                               const std::vector<CanonicalUrl>& links, const std::vector<std::uint8_t>& scores,
                               std::size_t link) const {
  const BestBy best_by = around_.settings.best_by;
  if (links[link].text() == source.url) return context;  // a page's link to itself does not count
  // Except by topic, a page gives its links something only on its first visit.
  if (source.visit > 0 && best_by != BestBy::topic) return context;
  switch (best_by) {
    case BestBy::topic:
      context.score = link < scores.size() ? scores[link] : std::uint16_t{0};
      break;
    case BestBy::opic:
      context.gives = std::max<std::uint64_t>(amount_of_score(source.score) / links.size(), 1);
      break;
    case BestBy::inlinks:
      context.gives = 1;
      break;
  }
  return context;
}

LinkContext LinkRouter::as_good_as(LinkContext context, const storage::QueuedUrl& source) {
  context.score = source.score;
  return context;
}

// The score to send with a link to the URL; nothing when it was sent before.
std::optional<std::uint16_t> LinkRouter::new_score(const CanonicalUrl& url, const LinkContext& context) {
  if (context.gives > 0) return scores_.add(url.digest(), context.gives);
  const bool seed = context.depth == 0 && context.steps == 0;
  const BestBy best_by = around_.settings.best_by;
  if (best_by == BestBy::topic) return scores_.raise(url.digest(), seed ? max_topic_score : context.score);
  const std::uint64_t seeds_own = best_by == BestBy::opic ? seed_cash : 1;
  return scores_.at_least(url.digest(), seed ? seeds_own : amount_of_score(context.score));
}

}  // namespace orbweaver
