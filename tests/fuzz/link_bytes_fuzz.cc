// What the links of a page may take, resolved: a <base> of 4 KB is in each of 100,000 of them. Bytes out are bounded
// whatever comes in.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/html/links.h"

namespace {

using namespace orbweaver;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::uint64_t link_bytes_max = 64u << 10;

template <typename Rules>
std::uint64_t bound(Rules& rules, const PageLinks& page) {
  if constexpr (requires { rules.bytes_max; }) {
    rules.bytes_max = link_bytes_max;
    return link_bytes_max;
  } else {
    return page.links.size() * url_bytes_max;
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
