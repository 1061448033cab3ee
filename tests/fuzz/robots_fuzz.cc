// robots.txt of any bytes: parsing and matching end, the parts agree with each other, and memory is bounded by the
// bytes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/robots/robots.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // The first line is the path to judge, the rest the file.
  const std::size_t line = input.find('\n');
  const std::string_view path = input.substr(0, line);
  const std::string_view body = line == std::string_view::npos ? std::string_view() : input.substr(line + 1);
  for (const std::string_view agent : {std::string_view("orbweaver/1.0 (+x)"), std::string_view("*"), path}) {
    const orbweaver::RobotsRules rules = orbweaver::RobotsRules::parse(body, agent);
    const auto decision = rules.decide(path);
    if (decision.allowed != rules.allowed(path)) std::abort();
    if ((decision.line == 0) != decision.rule.empty()) std::abort();
    if (!decision.allowed && decision.line == 0) std::abort();
    if (!rules.allowed("/robots.txt")) std::abort();
    // Plus the object itself and the minimum size of strings. UTF-16 grows by half as UTF-8.
    const bool utf16 = body.starts_with("\xFE\xFF") || body.starts_with("\xFF\xFE");
    const std::size_t bytes = utf16 ? body.size() / 2 * 3 : body.size();
    if (rules.bytes() > bytes + bytes / 5 + 512) std::abort();
    if (rules.size() > orbweaver::max_robots_rules) std::abort();
    std::size_t sitemaps = 0;
    for (const std::string& sitemap : rules.sitemaps()) sitemaps += sitemap.size();
    if (sitemaps > bytes || rules.names_sitemaps() != (sitemaps > 0)) std::abort();
    if (rules.crawl_delay() && *rules.crawl_delay() < orbweaver::Duration::zero()) std::abort();
  }
  return 0;
}
