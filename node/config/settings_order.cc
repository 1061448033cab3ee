// The rows of the order in which URLs are fetched (docs/how-to/orders.md).
#include "node/config/setting_def.h"
#include "node/text/shown.h"
#include "node/topic/topic.h"

namespace orbweaver {
namespace {

std::string check_topic(std::string_view text) {
  if (text.empty()) return {};
  const Result<Topic> topic = Topic::parse(text);
  return topic ? std::string() : shown(text) + " " + topic.error().message;
}

std::string anything(std::string_view) { return {}; }

}  // namespace

void add_order_settings(std::vector<SettingDef>& rows) {
  rows.push_back(choice_setting({"order",
                                 "Which of a host's URLs is next: breadth (the fewest links from a seed), depth (the "
                                 "most), or best (the highest score; also decides between hosts).",
                                 "Breadth-first finds important pages early without any score (Najork, Wiener 2001), "
                                 "and costs nothing. Fixed when the ring is made."},
                                &Settings::order, CrawlOrder::breadth, {"breadth", "depth", "best"}));
  rows.push_back(choice_setting(
      {"best_by",
       "What a score is with `order = best`: nearness to `topic`, cash by links (opic), or the number of links found "
       "(inlinks).",
       "By topic for a crawl about something; by opic for the pages that matter most to other pages."},
      &Settings::best_by, BestBy::topic, {"topic", "opic", "inlinks"}));
  rows.push_back(
      text_setting({"topic", "Words that `order = best` by topic looks for; WORD^WEIGHT counts one more.",
                    "Use about a dozen words that pages about it have and other pages do not; one of them is enough."},
                   &Settings::topic, "", "words, of which at least one is not as common as `the`", check_topic));
}

void add_own_order_settings(std::vector<SettingDef>& rows) {
  rows.push_back(
      text_setting({"topic_file", "An example document, HTML or text: its 64 most frequent words become `topic`.",
                    "Read by the peer that makes the ring; the others get the words from it."},
                   &Settings::topic_file, "", "a path", anything));
  rows.push_back(
      count_setting({"max_score_entries", "With `order = best`: URLs whose scores this peer follows; 16 bytes each.",
                     "A million are 16 MiB. The URL with the lowest score is evicted, and its score starts again "
                     "(docs/how-to/orders.md)."},
                    &Settings::max_score_entries, 1'048'576U, 0U, 1'073'741'824U));
}

Result<void> check_order(const Settings& settings) {
  const bool by_topic = settings.order == CrawlOrder::best && settings.best_by == BestBy::topic;
  if (by_topic && settings.topic.empty())
    return fail(ErrorCode::invalid_setting,
                "order = best by topic needs a topic: give `topic` some words or `topic_file` a document, or set "
                "`best_by` to opic or inlinks");
  if (!by_topic && !settings.topic.empty())
    return fail(ErrorCode::invalid_setting,
                "topic counts with order = best and best_by = topic only; set them too, or leave it out");
  return {};
}

}  // namespace orbweaver
