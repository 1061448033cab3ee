// The cost of scope and trap rules per URL, and of the fingerprint per page: ns on one core, minimum of five rounds.
//
//   traps_bench    prints a table
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "node/config/settings_table.h"
#include "node/sampleweb/sample_web.h"
#include "node/scope/scope.h"
#include "node/scope/traps.h"
#include "node/text/content_fingerprint.h"

namespace orbweaver {
namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
void measure(const char* name, std::size_t units, Work work) {
  double best = 1e18;
  for (int round = 0; round < 5; ++round) {
    const auto begun = Clock::now();
    for (int again = 0; again < 20; ++again) work();
    const std::chrono::duration<double, std::nano> took = Clock::now() - begun;
    best = std::min(best, took.count() / (20.0 * static_cast<double>(units)));
  }
  std::printf("%-44s %9.0f ns\n", name, best);
}

int run() {
  sample::SampleWebShape shape;
  shape.pages = 5000;
  std::vector<CanonicalUrl> urls;
  for (const std::string& text : sample::SampleWeb(shape).expected())
    if (auto url = CanonicalUrl::parse(text)) urls.push_back(std::move(*url));
  const Time now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  std::size_t in = 0;
  const auto scope = [&](const char* name, const Settings& settings) {
    const Scope judge(settings, {urls.front()});
    measure(name, urls.size(), [&] {
      for (const CanonicalUrl& url : urls) in += judge.contains(url) ? 1 : 0;
    });
  };
  Settings settings = default_settings();
  scope("scope = host, a URL", settings);
  settings.scope = ScopeKind::domain;
  scope("scope = domain, a URL", settings);
  settings.extensions_deny = {"pdf", "zip", "jpg"};
  scope("and extensions_deny of 3", settings);
  settings.extensions_deny.clear();
  settings.surt_reject.assign(1000, "");
  for (std::size_t i = 0; i < 1000; ++i) settings.surt_reject[i] = "org,site" + std::to_string(i) + ",";
  scope("and surt_reject of 1,000", settings);
  settings.surt_reject.clear();
  settings.url_deny = {"\\.php\\?", "[?&]print=", "/(private|old)/", "\\d{8}\\.html$"};
  scope("and url_deny of 4", settings);
  const TrapRules rules(default_settings());
  measure("trap rules, a URL", urls.size(), [&] {
    for (const CanonicalUrl& url : urls) in += rules.suspect(url.path_and_query(), 3, now) ? 1 : 0;
  });
  const std::string body(14'000, 'x');
  measure("content_fingerprint, a page of 14 KB", 1,
          [&] { in += content_fingerprint(body, "/a/page.html", "www.site.test") & 1; });
  std::printf("(%zu URLs, %zu)\n", urls.size(), in);
  return 0;
}

}  // namespace
}  // namespace orbweaver

int main() { return orbweaver::run(); }
