#include "node/cli/seed_schemes.h"

#include <algorithm>
#include <cctype>
#include <future>
#include <map>
#include <thread>

#include "node/cli/contact_check.h"
#include "node/config/shown.h"
#include "node/fetch/fetcher_config.h"
#include "node/run/clock.h"
#include "node/run/say.h"
#include "node/url/canonical_url.h"

namespace orbweaver {
namespace {

// Why the host does not answer by the URL's scheme; empty: it answers.
Result<std::string> refusal(const std::string& robots_txt, const Settings& settings) {
  const Clock clock;
  Result<CurlFetcherConfig> made = fetcher_config(settings);
  if (!made) return tl::make_unexpected(made.error());
  CurlFetcherConfig config = std::move(*made);
  config.clock = [&clock] { return clock.now(); };
  std::promise<FetchResponse> answered;
  auto fetcher = CurlFetcher::create(std::move(config),
                                     [&answered](FetchResponse response) { answered.set_value(std::move(response)); });
  if (!fetcher) return tl::make_unexpected(fetcher.error());
  FetchRequest request;
  request.id = 1;
  request.url = robots_txt;
  request.body_bytes_max = std::size_t{512} << 10;
  request.timeout = settings.robots_timeout;
  (*fetcher)->start(std::move(request));
  const FetchResponse response = answered.get_future().get();
  (*fetcher)->stop();
  return response.error == FetchError::none ? std::string() : response.error_text;
}

}  // namespace

bool lacks_scheme(const std::string& seed) {
  const std::string_view place = std::string_view(seed).substr(0, seed.find_first_of("/?#"));
  const std::size_t colon = place.find(':');
  const std::string_view port = colon == std::string_view::npos ? std::string_view() : place.substr(colon + 1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (colon != std::string_view::npos && (port.empty() || !std::all_of(port.begin(), port.end(), digit))) return false;
  const std::string_view host = place.substr(0, colon);
  return host == "localhost" || (host.find('.') != std::string_view::npos && !host.starts_with('.'));
}

std::vector<std::string> by_https(std::vector<std::string> seeds) {
  for (std::string& seed : seeds)
    if (lacks_scheme(seed)) seed.insert(0, "https://");
  return seeds;
}

Result<std::vector<std::string>> with_schemes(std::vector<std::string> seeds, const Settings& settings) {
  std::map<std::string, std::string> scheme_of;  // host and port
  for (std::string& seed : seeds) {
    if (!lacks_scheme(seed)) continue;
    const std::string place = seed.substr(0, seed.find_first_of("/?#"));
    const bool known = scheme_of.contains(place);
    std::string& scheme = scheme_of[place];
    if (!known) {
      if (Result<void> checked = check_contact(settings, {"https://" + place + "/"}); !checked)
        return tl::make_unexpected(checked.error());
      say_aside("asking " + shown(place) + " by https first\n");
      const Result<std::string> https_refusal = refusal("https://" + place + "/robots.txt", settings);
      if (!https_refusal) return tl::make_unexpected(https_refusal.error());
      scheme = "https://";
      if (!https_refusal->empty()) {
        const Result<std::string> by_http = refusal("http://" + place + "/robots.txt", settings);
        if (!by_http) return tl::make_unexpected(by_http.error());
        if (by_http->empty()) scheme = "http://";
        say_aside(shown(place) + " does not answer by https (" + *https_refusal + ")" +
                  (by_http->empty() ? ", but by http" : ", nor by http") + "\n");
      }
    }
    seed.insert(0, scheme);
    say_aside("crawling " + shown(seed) + "\n");
  }
  if (!scheme_of.empty()) std::this_thread::sleep_for(settings.delay);
  return seeds;
}

}  // namespace orbweaver
