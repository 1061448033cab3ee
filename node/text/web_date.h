// Dates as sitemaps, feeds and robots tags write them. Outside input: bounded, never throws. Thread rule: free
// functions.
#pragma once

#include <optional>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

// A W3C date and time (https://www.w3.org/TR/NOTE-datetime, used by <lastmod>; it includes RFC 3339): "1997",
// "1997-07", "1997-07-16", "1997-07-16T19:20+01:00", "…T19:20:30.45Z". A missing part is the first of its kind; a time
// without a zone is UTC, and a space instead of the T is accepted. Nothing for any other text.
std::optional<Time> parse_w3c_date(std::string_view text);

// A date of a mail (RFC 5322, 3.3, used by <pubDate>; also RFC 822 with two digits of the year): "Sun, 06 Sep 2009
// 16:20:00 +0000", "05 Jan 17 13:34:54 GMT". A zone is required: +hhmm, or a name of RFC 822. Nothing without one.
std::optional<Time> parse_mail_date(std::string_view text);

}  // namespace orbweaver
