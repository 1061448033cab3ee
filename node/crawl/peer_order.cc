// Scores of links under order = best (docs/how-to/orders.md): what a page gives the URLs that it links.
#include <algorithm>

#include "node/crawl/peer.h"

namespace orbweaver {

namespace {

// By topic, what a seed has: the most there is.
constexpr std::uint16_t topic_score_max = 255;

}  // namespace

// With the ring's values: at the start, and when a joiner has learnt them.
void Peer::set_order() {
  switch (settings_.order) {
    case CrawlOrder::breadth:
      store_->set_order(storage::QueueOrder::breadth);
      break;
    case CrawlOrder::depth:
      store_->set_order(storage::QueueOrder::depth);
      break;
    case CrawlOrder::best:
      store_->set_order(storage::QueueOrder::best);
      break;
  }
  bench_.set_best_first(best_first());
  link_scores_ = LinkScores(best_first() ? settings_.score_entries : 0);
}

Peer::Way Peer::scored(Way way, const storage::QueuedUrl& source, const PageDone& page, std::size_t link) const {
  if (page.links[link].text() == source.url) return way;  // a page's word for itself does not count
  // What a page gives it gives once.
  if (source.visit > 0 && settings_.best_by != BestBy::topic) return way;
  switch (settings_.best_by) {
    case BestBy::topic:
      way.score = link < page.link_scores.size() ? page.link_scores[link] : std::uint16_t{0};
      break;
    case BestBy::opic:
      way.gives = std::max<std::uint64_t>(amount_of_score(source.score) / page.links.size(), 1);
      break;
    case BestBy::inlinks:
      way.gives = 1;
      break;
  }
  return way;
}

Peer::Way Peer::as_good_as(Way way, const storage::QueuedUrl& source) const {
  way.score = source.score;
  return way;
}

// What is to be told of a URL that a link was found to; nothing when it was told before.
std::optional<std::uint16_t> Peer::new_score(const CanonicalUrl& url, const Way& way) {
  if (way.gives > 0) return link_scores_.add(url.digest(), way.gives);
  const bool seed = way.depth == 0 && way.redirects == 0;
  if (settings_.best_by == BestBy::topic) return link_scores_.raise(url.digest(), seed ? topic_score_max : way.score);
  const std::uint64_t seeds_own = settings_.best_by == BestBy::opic ? seed_cash : 1;
  return link_scores_.at_least(url.digest(), seed ? seeds_own : amount_of_score(way.score));
}

}  // namespace orbweaver
