#include "node/tools/sitemap_command.h"

#include <cstdio>

#include "node/sitemap/sitemap.h"

namespace orbweaver {
namespace {

// "2005-01-01T00:00:00Z".
std::string utc(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

}  // namespace

nlohmann::json sitemap_report(std::string_view body, std::string_view content_type, const std::string& base) {
  const Sitemap sitemap = read_sitemap(body, content_type);
  // Without a base, relative addresses resolve to a host that cannot exist.
  const std::string nowhere = "http://relative.invalid/";
  Result<Url> location = Url::parse(base.empty() ? nowhere : base);
  if (!location) location = Url::parse(nowhere);
  nlohmann::json entries = nlohmann::json::array();
  for (const SitemapEntry& entry : sitemap.entries) {
    nlohmann::json row = {
        {"text", entry.url}, {"url", nullptr}, {"lastmod", nullptr}, {"changefreq", nullptr}, {"priority", nullptr}};
    const SitemapUrls resolved = resolve_entries(Sitemap{sitemap.kind, {entry}, false, false, {}}, *location);
    if (!resolved.urls.empty() && !resolved.urls.front().text().starts_with(nowhere))
      row["url"] = resolved.urls.front().text();
    if (entry.lastmod) row["lastmod"] = utc(*entry.lastmod);
    if (!entry.change_frequency.empty()) row["changefreq"] = entry.change_frequency;
    if (entry.priority) row["priority"] = *entry.priority;
    entries.push_back(std::move(row));
  }
  return {{"kind", sitemap_kind_name(sitemap.kind)},
          {"recognised", looks_like_sitemap(body, content_type)},
          {"cut", sitemap.cut},
          {"damaged", sitemap.damaged},
          {"problem", sitemap.problem},
          {"entries", std::move(entries)}};
}

std::string sitemap_text(const nlohmann::json& report) {
  const auto text_of = [](const nlohmann::json& value, const char* none) {
    return value.is_string() ? value.get<std::string>() : value.is_null() ? std::string(none) : value.dump();
  };
  std::string out;
  for (const nlohmann::json& entry : report.at("entries")) {
    out += entry.at("url").is_null() ? "(not a URL) " + text_of(entry.at("text"), "") : text_of(entry.at("url"), "");
    for (const char* field : {"lastmod", "changefreq", "priority"})
      if (!entry.at(field).is_null()) out += std::string("  ") + field + " " + text_of(entry.at(field), "");
    out += "\n";
  }
  out += text_of(report.at("kind"), "") + ": " + std::to_string(report.at("entries").size()) + " entries\n";
  if (const std::string problem = text_of(report.at("problem"), ""); !problem.empty()) out += "note: " + problem + "\n";
  return out;
}

}  // namespace orbweaver
