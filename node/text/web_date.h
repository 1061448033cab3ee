// Dates as sitemaps, feeds and robots tags write them. Outside input: bounded, never throws. Thread rule: free
// functions.
#pragma once

#include <optional>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

// A W3C date and time (https://www.w3.org/TR/NOTE-datetime, what <lastmod> holds; RFC 3339 is a part of it): "1997",
// "1997-07", "1997-07-16", "1997-07-16T19:20+01:00", "…T19:20:30.45Z". What is left out is the first of its kind; a
// time without a zone is taken as UTC, and a space instead of the T is let pass. Nothing for what is no such date.
std::optional<Time> parse_w3c_date(std::string_view text);

// A date of a mail (RFC 5322, 3.3, what <pubDate> holds; RFC 822 with two digits of the year too): "Sun, 06 Sep 2009
// 16:20:00 +0000", "05 Jan 17 13:34:54 GMT". A zone is asked for: +hhmm, or a name of RFC 822. Nothing without one.
std::optional<Time> parse_mail_date(std::string_view text);

}  // namespace orbweaver
