// Any bytes as a URL and its base: the serialisation parses to itself, and the canonical form is idempotent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/url/canonical_url.h"
#include "node/url/scope.h"
#include "node/url/surt.h"
#include "node/url/url.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const orbweaver::Url& url) {
  const auto again = orbweaver::Url::parse(url.href());
  // Escaping can make a serialisation longer than what the parser takes.
  require(again ? again->href() == url.href() : url.href().size() > orbweaver::url_input_bytes_max);
  const auto once = orbweaver::CanonicalUrl::from(url);
  if (!once) return;
  require(once->text().size() <= orbweaver::url_bytes_max);
  const auto twice = orbweaver::CanonicalUrl::parse(once->text());
  require(twice && twice->text() == once->text() && twice->host() == once->host() && twice->port() == once->port());
  require(once->path_and_query().starts_with('/'));
  require(!orbweaver::surt(*once).empty() && !orbweaver::cdx_key(*once).empty());
  require(once->host().ends_with(orbweaver::registrable_domain(once->host())));
}

}  // namespace

// Input: base, newline, URL; or a URL alone.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  if (const auto alone = orbweaver::Url::parse(input)) check(*alone);
  if (line == std::string_view::npos) return 0;
  const auto base = orbweaver::Url::parse(input.substr(0, line));
  if (!base) return 0;
  if (const auto url = orbweaver::Url::parse(input.substr(line + 1), &*base)) check(*url);
  return 0;
}
