// Any answer of a name server, and any cookie of a site: bounded, never read beyond its end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/fetch/dns_cache.h"
#include "node/fetch/dns_message.h"
#include "node/http/cookie_jar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orbweaver;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const DnsType type : {DnsType::a, DnsType::aaaa}) {
    const DnsAnswer answer = parse_dns_answer(text, type);
    if (answer.addresses.size() > max_dns_addresses) std::abort();
    if ((answer.kind == DnsAnswer::Kind::addresses) == answer.addresses.empty()) std::abort();
    if (answer.ttl.count() < 0) std::abort();
  }
  for (const auto& [host, addresses] : parse_hosts_file(text))
    if (host.empty() || addresses.empty()) std::abort();
  CookieJar jar;
  const Time now{std::chrono::hours{500'000}};
  static const CanonicalUrl url = CanonicalUrl::parse("https://www.site.test/path/page").value();
  const UrlPlace place = place_of(url);
  const bool taken = jar.take(place, text, now);
  if (jar.size() > (taken ? 1U : 0U)) std::abort();
  const auto stored = CookieJar::decode(text);  // as another peer may send it
  const auto again = CookieJar::decode(jar.encode());
  if (!again || again->encode() != jar.encode()) std::abort();
  const CookieJar* const sent = stored ? &*stored : &jar;
  for (const CookieJar* const of : {static_cast<const CookieJar*>(&jar), sent})
    if (of->header_for(place, now).find_first_of("\r\n") != std::string::npos) std::abort();
  return 0;
}
