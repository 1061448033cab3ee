// Links that a selector chooses, and results of search engines. The first line is the selector or the rule, the rest
// the page.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "node/html/selector.h"
#include "node/scope/page_rules.h"

namespace {

using namespace orbweaver;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<CanonicalUrl> resolved(std::vector<PageLink> links) {
  PageLinks page;
  page.links = std::move(links);
  return resolve_links(page, *Url::parse("http://d.test/search?q=a"), nullptr).urls;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view rule = bytes.substr(0, bytes.find('\n'));
  const std::string_view page = bytes.substr(std::min(size, rule.size() + 1));
  const auto every = html::Selector::parse("a, area, * *");
  require(every.has_value());
  const std::size_t all = html::selected_links(page, *every).size();
  require(all <= size && all <= max_links_per_page);
  if (const auto selector = html::Selector::parse(rule)) require(html::selected_links(page, *selector).size() <= size);
  const CanonicalUrl at = *CanonicalUrl::parse("http://d.test/search?q=a");
  const std::vector<CanonicalUrl> links = resolved(html::selected_links(page, *every));
  for (const std::string& entry :
       {std::string("^http://d\\.test/ unwrap=u"), "^http://d\\.test/ " + std::string(rule)}) {
    const ResultPages pages({entry});
    if (const ResultPages::Rule* found = pages.find(at))
      require(results_of(*found, at, links, Canonicaliser()).size() <= max_results_per_page);
  }
  std::vector<CanonicalUrl> kept = links;
  const std::uint32_t dropped = SiteLinks({std::string(rule), "* same_host=yes"}).filter(at, kept);
  require(kept.size() + dropped == links.size());
  return 0;
}
