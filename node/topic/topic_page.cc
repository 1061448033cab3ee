#include "node/topic/topic_page.h"

#include <algorithm>
#include <map>

#include "node/html/visible_text.h"

namespace orbweaver {

std::vector<std::uint8_t> TopicPages::scores(std::string_view html, const Url& base, const QueryEncoder* encoder,
                                             const Canonicaliser& canonicaliser, const std::vector<CanonicalUrl>& links,
                                             std::uint16_t page_score) {
  page_similarity_ = 0;
  // Anchor texts related to the topic, by the URL's digest; all of a URL's texts.
  std::map<ring::Md5, std::string> anchors_of;
  if (!html.empty()) {
    std::vector<html::AnchorText> anchors;
    const PageText page = html::extract_text_by_stream(html, &anchors);
    page_words_.clear();
    page_words_.add(page.title);
    page_words_.add(page.text);
    page_similarity_ = scorer_.similarity(page_words_);
    for (const html::AnchorText& anchor : anchors) {
      words_.clear();
      words_.add(anchor.text);
      if (scorer_.similarity(words_) <= 0) continue;  // so for most anchors the URL need not be resolved again
      const Result<Url> url = Url::parse(anchor.href, &base, encoder);
      if (!url || !url->is_http()) continue;
      if (const Result<CanonicalUrl> canonical = canonicaliser.from(*url))
        anchors_of[canonical->digest()].append(anchor.text).append(" ");
    }
  }
  const double inherits = topic_score_value(page_score);
  std::vector<std::uint8_t> scores;
  scores.reserve(links.size());
  for (const CanonicalUrl& link : links) {
    words_.clear();
    words_.add(link.text());
    // An anchor is what the page says of its target, a URL what the target's site says: the better one counts.
    double near = scorer_.similarity(words_);
    if (const auto text = anchors_of.find(link.digest()); text != anchors_of.end()) {
      words_.clear();
      words_.add(text->second);
      near = std::max(near, scorer_.similarity(words_));
    }
    scores.push_back(topic_score_of(link_score(page_similarity_, inherits, near)));
  }
  if (!html.empty()) scorer_.learn(page_words_);
  return scores;
}

}  // namespace orbweaver
