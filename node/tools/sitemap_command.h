// `orbweaver sitemap`: the crawler's sitemap reader as a tool for people and scripts. Reads any bytes; never throws.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace orbweaver {

// {"kind", "cut", "damaged", "problem", "recognised" (the crawl would treat it as a sitemap), "entries": [{"url" (as
// the crawl would admit it; null when it would not), "text" (as written), "lastmod" (UTC; null), "changefreq" (null),
// "priority" (null)}]}. `base`: relative addresses are resolved against it; empty: they are left out.
nlohmann::json sitemap_report(std::string_view body, std::string_view content_type, const std::string& base);

// Such a report as text for people.
std::string sitemap_text(const nlohmann::json& report);

}  // namespace orbweaver
