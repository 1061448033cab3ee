// The rows of the order in which URLs are fetched (docs/how-to/orders.md), and the topic's document.
#include <fstream>
#include <iterator>

#include "node/config/setting_def.h"
#include "node/config/shown.h"
#include "node/html/charset.h"
#include "node/html/visible_text.h"
#include "node/topic/topic.h"

namespace orbweaver {
namespace {

// The first part of a document says what it is about.
constexpr std::size_t document_bytes_max = 1u << 20;

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
      &Settings::best_by, BestBy::topic,
      {"topic", "Words that `order = best` by topic looks for; WORD^WEIGHT counts one more.",
       "Use about a dozen words that pages about it have and other pages do not; one of them is enough."}));
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
      count_setting({"score_entries", "With `order = best`: URLs whose scores this peer follows; 16 bytes each.",
                     "A million are 16 MiB. The URL with the lowest score is evicted, and its score starts again "
                     "(docs/how-to/orders.md)."},
                    &Settings::score_entries, 1'048'576U, 0U, 1'073'741'824U));
}

Result<bool> read_topic_file(Settings& settings) {
  if (settings.topic_file.empty()) return false;
  const std::string where = "setting 'topic_file': " + settings.topic_file;
  if (!settings.topic.empty())
    return fail(ErrorCode::invalid_setting, where + ": there is a `topic` too; give one of the two");
  std::ifstream in(settings.topic_file, std::ios::binary);
  std::string bytes(document_bytes_max, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in.is_open() || in.bad()) return fail(ErrorCode::io, where + " cannot be read");
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (bytes.find('\0') != std::string::npos)
    return fail(ErrorCode::invalid_setting, where + " is not text: give an HTML or text document");
  const std::size_t first = bytes.find_first_not_of(" \t\r\n\f\xef\xbb\xbf");
  DecodedText text;
  PageText page;
  if (first != std::string::npos && bytes[first] == '<') {
    decode_html(bytes, "", text);
    page = html::extract_text_by_stream(text.utf8);
  } else {
    decode_text_body(bytes, "", TextFormat::plain, text);
    page.text = text.utf8;
  }
  Result<std::string> words = Topic::of_document(page.title + "\n" + page.text);
  if (!words) return fail(ErrorCode::invalid_setting, where + " " + words.error().message);
  settings.topic = std::move(*words);
  return true;
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
