// Any bytes as a URL and its base: the serialisation parses to itself, and the canonical form is idempotent, with any
// of the rules that a crawl may choose.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/config/settings_table.h"
#include "node/scope/scope.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"
#include "node/url/canonicaliser.h"
#include "node/url/surt.h"
#include "node/url/url.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// All rules together, and each alone; made only once.
const std::vector<orbweaver::Canonicaliser>& canonicalisers() {
  static const std::vector<orbweaver::Canonicaliser> made = [] {
    const std::pair<const char*, const char*> rules[] = {
        {"strip_tracking", "yes"}, {"strip_parameters", "a*,_"}, {"sort_parameters", "yes"},
        {"strip_sessions", "yes"}, {"strip_index", "yes"},       {"trailing_slash", "drop"},
        {"join_www", "yes"},       {"join_schemes", "https"},    {"hash_bang", "keep"}};
    std::vector<orbweaver::Canonicaliser> out;
    orbweaver::Settings all = orbweaver::default_settings();
    for (const auto& [name, value] : rules) {
      orbweaver::Settings one = orbweaver::default_settings();
      require(orbweaver::set_setting(one, name, value) && orbweaver::set_setting(all, name, value));
      out.emplace_back(one);
    }
    out.emplace_back(all);
    return out;
  }();
  return made;
}

// Split without parsing, the stored URL is the same, and so is the Url made from it.
void check_stored(const orbweaver::CanonicalUrl& url) {
  const auto stored = orbweaver::CanonicalUrl::of_stored(url.text());
  require(stored && stored->host() == url.host() && stored->port() == url.port() && stored->digest() == url.digest() &&
          stored->path_and_query() == url.path_and_query());
  const orbweaver::Url made = stored->as_url();
  const auto parsed = orbweaver::Url::parse(url.text());
  require(parsed && made.scheme() == parsed->scheme() && made.host() == parsed->host() &&
          made.port() == parsed->port() && made.path() == parsed->path() && made.query() == parsed->query() &&
          made.fragment() == parsed->fragment());
}

void check_rules(const orbweaver::Url& url) {
  for (const orbweaver::Canonicaliser& rules : canonicalisers()) {
    const auto once = rules.from(url);
    if (!once) continue;
    require(once->text().size() <= orbweaver::max_url_bytes && once->path_and_query().starts_with('/'));
    const auto twice = rules.parse(once->text());
    require(twice && *twice == *once && twice->host() == once->host() && twice->port() == once->port());
    check_stored(*once);
    (void)rules.changes(url);
  }
}

void check(const orbweaver::Url& url) {
  const auto again = orbweaver::Url::parse(url.href());
  // Escaping can make a serialisation longer than the parser's limit.
  require(again ? again->href() == url.href() : url.href().size() > orbweaver::max_url_input_bytes);
  check_rules(url);
  const auto once = orbweaver::CanonicalUrl::from(url);
  if (!once) return;
  require(once->text().size() <= orbweaver::max_url_bytes);
  const auto twice = orbweaver::CanonicalUrl::parse(once->text());
  require(twice && twice->text() == once->text() && twice->host() == once->host() && twice->port() == once->port());
  require(once->path_and_query().starts_with('/'));
  check_stored(*once);
  require(!orbweaver::surt(*once).empty() && !orbweaver::cdx_key(*once).empty());
  require(once->host().ends_with(orbweaver::registrable_domain(once->host())));
}

}  // namespace

// Input: base, newline, URL; or a URL alone.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  if (const auto damaged = orbweaver::CanonicalUrl::of_stored(std::string(input))) (void)damaged->as_url();
  if (const auto alone = orbweaver::Url::parse(input)) check(*alone);
  if (line == std::string_view::npos) return 0;
  const auto base = orbweaver::Url::parse(input.substr(0, line));
  if (!base) return 0;
  if (const auto url = orbweaver::Url::parse(input.substr(line + 1), &*base)) check(*url);
  return 0;
}
