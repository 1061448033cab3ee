// What a page asks of the crawlers that fetched it: the X-Robots-Tag header and <meta name=robots content>, and both
// under the crawler's own name. No RFC covers them (RFC 9309, 1: robots.txt is about access); the words and their
// combination are as the large search engines document them (developers.google.com/search/docs/crawling-indexing/
// robots-meta-tag). Outside input of any bytes; never fails: unknown words are ignored. Thread rule: values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct RobotsMeta {
  bool nofollow = false;                  // do not follow its links
  bool noindex = false;                   // do not keep it for searching
  bool nosnippet = false;                 // show no extract of it (max-snippet:0 too)
  bool noarchive = false;                 // show no copy of it (nocache too)
  std::optional<Time> unavailable_after;  // noindex from then on; of several the earliest

  // One X-Robots-Tag field's value: "noindex, nofollow", "otherbot: none, orbweaver: nofollow", "unavailable_after: 25
  // Jun 2010 15:00:00 PST". A name with a colon gives the words after it, up to the next such name, to that crawler
  // alone. `agent` is our product token; it is compared without regard to case.
  void add_header(std::string_view value, std::string_view agent);
  // <meta name content>: counts when the name is "robots" or `agent`.
  void add_meta(std::string_view name, std::string_view content, std::string_view agent);
  // Requests to all crawlers and to this one add up:
  // the stricter word wins, "all" cancels nothing. A date that has passed is a noindex.
  bool noindex_at(Time now) const { return noindex || (unavailable_after && *unavailable_after <= now); }
  // The words that apply, for people: "noindex", "nofollow", "nosnippet", "noarchive".
  std::vector<std::string> words() const;

 private:
  void add_rule(std::string_view rule);
  void add_rules(std::string_view text, std::string_view agent, bool names_crawlers);
};

// Whether a list of such words contains a known one: a cheap check for every <meta> of a page.
bool has_robots_word(std::string_view content);

}  // namespace orbweaver
