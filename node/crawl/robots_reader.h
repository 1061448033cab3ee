// A robots.txt as the workers read it, so that the core's thread does not: what goes into PageDone. Pure. Thread rule:
// free functions.
#pragma once

#include <string>
#include <string_view>

#include "node/crawl/events.h"
#include "node/settings/settings.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

// Up to this many of the sitemaps that one robots.txt names are asked for. The largest sites name a few hundred; an
// index has room for 50,000.
inline constexpr std::size_t max_named_sitemaps = 1000;

// About 15 us for a usual file, some milliseconds for one of max_robots_bytes.
ParsedRobots parse_robots(std::string_view body, std::string_view agent);

// The body, its rules and, where the settings want them, the sitemaps that it names. `origin`: whose robots.txt it is.
RobotsRead read_robots(std::string body, const std::string& origin, const Settings& settings,
                       const Canonicaliser& rules);

}  // namespace orbweaver
