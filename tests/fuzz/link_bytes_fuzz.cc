// The size of a page's links after resolution: a <base> of 4 KB is in each of 100,000 links. The output is bounded for
// any input.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/html/links.h"

namespace {

using namespace orbweaver;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::uint64_t max_link_bytes = 64u << 10;

template <typename Rules>
std::uint64_t bound(Rules& rules, const PageLinks& page) {
  if constexpr (requires { rules.max_bytes; }) {
    rules.max_bytes = max_link_bytes;
    return max_link_bytes;
  } else {
    return page.links.size() * max_url_bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const LinkChoice all{true, true, true, true, true, true, true};
  const auto extractor = make_stream_extractor(all);
  const PageLinks page = extractor->extract(bytes);
  std::uint64_t hrefs = 0;
  for (const PageLink& link : page.links) hrefs += link.href.size();
  require(hrefs <= 8 * size);
  const Url document = *Url::parse("http://d.test/a/b?c");
  for (const bool requisites : {false, true}) {
    LinkRules rules{{}, all, requisites};
    const std::uint64_t most = bound(rules, page);
    const ResolvedLinks links = resolve_links(page, document, nullptr, rules);
    std::uint64_t out = 0;
    for (const CanonicalUrl& url : links.urls) out += url.text().size();
    for (const CanonicalUrl& url : links.requisites) out += url.text().size();
    require(out <= most);
  }
  return 0;
}
