// Sitemaps of any bytes: reading ends, keeps its bounds, and gives URLs that can be resolved.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/robots/robots_meta.h"
#include "node/sitemap/sitemap.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // The first line is the Content-Type, the rest the file.
  const std::size_t line = input.find('\n');
  const std::string_view type = input.substr(0, line);
  const std::string_view body = line == std::string_view::npos ? std::string_view() : input.substr(line + 1);
  constexpr orbweaver::SitemapLimits limits{1 << 20, 50};
  const orbweaver::Sitemap sitemap = read_sitemap(body, type, limits);
  if (sitemap.entries.size() > limits.max_entries) std::abort();
  if (sitemap.kind == orbweaver::SitemapKind::unknown && !sitemap.entries.empty()) std::abort();
  if ((sitemap.cut || sitemap.damaged) && sitemap.problem.empty()) std::abort();
  for (const orbweaver::SitemapEntry& entry : sitemap.entries)
    if (entry.url.empty() || entry.url.size() > orbweaver::max_url_bytes) std::abort();
  const auto location = orbweaver::Url::parse("http://example.test/sitemap.xml");
  if (!location) std::abort();
  const orbweaver::SitemapUrls urls = resolve_entries(sitemap, *location);
  if (urls.urls.size() + urls.skipped > sitemap.entries.size()) std::abort();
  (void)orbweaver::looks_like_sitemap(body, type);
  // Robots tags of the same bytes: an addition only makes them stricter.
  orbweaver::RobotsMeta meta;
  meta.add_header(input, "orbweaver");
  const std::size_t before = meta.words().size();
  meta.add_meta("robots", body, "orbweaver");
  if (meta.words().size() < before) std::abort();
  return 0;
}
