#include "node/crawl/robots_reader.h"

#include "node/sitemap/sitemap.h"

namespace orbweaver {

ParsedRobots parse_robots(std::string_view body, std::string_view agent) {
  return {ring::md5(body), std::make_shared<const RobotsRules>(RobotsRules::parse(body, agent))};
}

void read_robots(std::string body, const std::string& origin, const Settings& settings, const Canonicaliser& rules,
                 PageDone& done) {
  done.robots = parse_robots(body, settings.user_agent);
  done.robots_body = std::move(body);
  const Result<Url> place = Url::parse(origin + "/robots.txt");
  if (settings.sitemaps == SitemapUse::off || !place) return;
  done.sitemaps = resolve_sitemap_lines(done.robots.rules->sitemaps(), *place, rules).urls;
  if (done.sitemaps.size() > named_sitemaps_max)
    done.sitemaps.erase(done.sitemaps.begin() + named_sitemaps_max, done.sitemaps.end());
}

}  // namespace orbweaver
