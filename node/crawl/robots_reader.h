// A robots.txt as the workers read it, so that the core's thread does not: what goes into PageDone. Pure. Thread rule:
// free functions.
#pragma once

#include <string>
#include <string_view>

#include "node/crawl/events.h"
#include "node/settings/settings.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

// Of those that one robots.txt names, up to this many are asked for. The largest sites name some hundred; an index
// has room for 50,000.
inline constexpr std::size_t named_sitemaps_max = 1000;

// About 15 us for a usual file, some milliseconds for one of robots_bytes_max.
ParsedRobots parse_robots(std::string_view body, std::string_view agent);

// The body, its rules and, where the settings want them, the sitemaps that it names. `origin`: whose robots.txt it is.
RobotsRead read_robots(std::string body, const std::string& origin, const Settings& settings,
                       const Canonicaliser& rules);

}  // namespace orbweaver
