// What a page asks of crawlers that fetched it: the X-Robots-Tag header and <meta name=robots content>, and both under
// the crawler's own name. No RFC covers them (RFC 9309, 1: robots.txt is about access); the words and how they combine
// are those that the large search engines document (developers.google.com/search/docs/crawling-indexing/
// robots-meta-tag). Outside input of any bytes; never fails: words that are not known say nothing. Thread rule: values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct RobotsMeta {
  bool nofollow = false;                  // its links are not to be followed
  bool noindex = false;                   // it is not to be kept for finding
  bool nosnippet = false;                 // no extract of it is to be shown (max-snippet:0 too)
  bool noarchive = false;                 // no copy of it is to be shown (nocache too)
  std::optional<Time> unavailable_after;  // noindex from then on; of several the earliest

  // One X-Robots-Tag field's value: "noindex, nofollow", "otherbot: none, orbweaver: nofollow",
  // "unavailable_after: 25 Jun 2010 15:00:00 PST". A name with a colon gives the words behind it, up to the next such
  // name, to that crawler alone. `agent` is our product token; it is compared without regard to case.
  void add_header(std::string_view value, std::string_view agent);
  // <meta name content>: counts when the name is "robots" or `agent`.
  void add_meta(std::string_view name, std::string_view content, std::string_view agent);
  // What was asked of all crawlers and what was asked of this one add up: the stricter word holds, "all" takes nothing
  // back. A date that has passed is a noindex.
  bool noindex_at(Time now) const { return noindex || (unavailable_after && *unavailable_after <= now); }
  // The words of it that hold, for people: "noindex", "nofollow", "nosnippet", "noarchive".
  std::vector<std::string> words() const;

 private:
  void add_rule(std::string_view rule);
  void add_rules(std::string_view text, std::string_view agent, bool names_crawlers);
};

// Whether a list of such words holds one that is known: a cheap question to ask of every <meta> of a page.
bool has_robots_word(std::string_view content);

}  // namespace orbweaver
