// Scores of a page's links under order = best by topic: the page's text, its anchors and their URLs against the topic.
// Thread rule: one owner (a parse worker). Cost: one more pass over the page; docs/how-to/orders.md has figures.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "node/html/links.h"
#include "node/topic/topic.h"

namespace orbweaver {

class TopicPages {
 public:
  explicit TopicPages(Topic topic) : scorer_(std::move(topic)) {}

  // `html`: UTF-8, empty when the page is not HTML (then only URLs and `page_score` count). `base`: the base URL of its
  // links. `links`: as the page's rules made them. `page_score`: the record's.
  std::vector<std::uint8_t> scores(std::string_view html, const Url& base, const QueryEncoder* encoder,
                                   const Canonicaliser& canonicaliser, const std::vector<CanonicalUrl>& links,
                                   std::uint16_t page_score);
  double page_similarity() const { return page_similarity_; }  // of the last page

 private:
  TopicScorer scorer_;
  WordCounts words_;
  WordCounts page_words_;
  double page_similarity_ = 0;
};

}  // namespace orbweaver
