#include "node/crawl/robots_reader.h"

#include "node/sitemap/sitemap.h"

namespace orbweaver {

ParsedRobots parse_robots(std::string_view body, std::string_view agent) {
  return {ring::md5(body), std::make_shared<const RobotsRules>(RobotsRules::parse(body, agent))};
}

RobotsRead read_robots(std::string body, const std::string& origin, const Settings& settings,
                       const Canonicaliser& rules) {
  RobotsRead read;
  read.parsed = parse_robots(body, settings.user_agent);
  read.body = std::move(body);
  const Result<Url> place = Url::parse(origin + "/robots.txt");
  if (settings.sitemaps == SitemapUse::off || !place) return read;
  read.sitemaps = resolve_sitemap_lines(read.parsed.rules->sitemaps(), *place, rules).urls;
  if (read.sitemaps.size() > max_named_sitemaps)
    read.sitemaps.erase(read.sitemaps.begin() + max_named_sitemaps, read.sitemaps.end());
  return read;
}

}  // namespace orbweaver
