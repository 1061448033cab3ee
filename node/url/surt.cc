#include "node/url/surt.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "node/url/url_host.h"

namespace orbweaver {

namespace {

// "com,example,www" of "www.example.com"; a comma in a name becomes '.', which no label contains.
std::string reversed_host(std::string_view host) {
  if (is_ip_address(host)) return std::string(host);
  std::string out;
  out.reserve(host.size());
  for (std::string_view rest = host;;) {
    const std::size_t dot = rest.rfind('.');
    const std::string_view label = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
    std::transform(label.begin(), label.end(), std::back_inserter(out), [](char c) { return c == ',' ? '.' : c; });
    if (dot == std::string_view::npos) return out;
    out.push_back(',');
    rest = rest.substr(0, dot);
  }
}

}  // namespace

std::string surt(const CanonicalUrl& url) {
  std::string out = reversed_host(url.host());
  out.append(url.authority().substr(url.host().size())).push_back(')');
  out.append(url.text(), url.origin().size());  // with a "#!" that the crawl keeps
  return out;
}

}  // namespace orbweaver
