#include "node/cli/seed_schemes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <thread>

#include "node/cli/contact_check.h"
#include "node/cli/fetch_once.h"
#include "node/terminal/say.h"
#include "node/text/shown.h"
#include "node/url/canonical_url.h"

namespace orbweaver {
namespace {

struct Asked {
  std::string silence;   // why the host does not answer by that scheme; empty: it answers
  bool refused = false;  // no request was sent: this crawl may not connect to its address
};

Result<Asked> ask_host(const std::string& robots_txt, const Settings& settings) {
  const Result<CanonicalUrl> url = CanonicalUrl::parse(robots_txt);
  if (!url) return Asked{url.error().message};
  const Result<FetchResponse> answer = ask_once(*url, settings, settings.robots_timeout);
  if (!answer) return tl::make_unexpected(answer.error());
  const FetchResponse& response = *answer;
  if (response.error == FetchError::none) return Asked{};
  return Asked{response.error_text, response.error == FetchError::address_refused ||
                                        response.error == FetchError::address_denied ||
                                        response.error == FetchError::no_contact};
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
  std::string silent;                            // for the first host that answers by neither
  std::vector<std::string> completed;
  bool any = seeds.empty();
  for (std::string& seed : seeds) {
    if (!lacks_scheme(seed)) {
      any = true;
      continue;
    }
    const std::string place = seed.substr(0, seed.find_first_of("/?#"));
    const bool known = scheme_of.contains(place);
    std::string& scheme = scheme_of[place];
    if (!known) {
      if (Result<void> checked = check_contact(settings, {"https://" + place + "/"}); !checked)
        return tl::make_unexpected(checked.error());
      say_aside("asking " + shown(place) + " by https first\n");
      const Result<Asked> https = ask_host("https://" + place + "/robots.txt", settings);
      if (!https) return tl::make_unexpected(https.error());
      scheme = "https://";
      any = any || https->silence.empty() || https->refused;  // refused addresses are reported elsewhere
      if (!https->silence.empty()) {
        const Result<Asked> by_http = ask_host("http://" + place + "/robots.txt", settings);
        if (!by_http) return tl::make_unexpected(by_http.error());
        const bool answers = by_http->silence.empty();
        if (answers) scheme = "http://";
        any = any || answers;
        if (!answers && silent.empty())
          silent = shown(place) + " answers neither by https (" + https->silence + ") nor by http (" +
                   by_http->silence + ")";
        say_aside(shown(place) + " does not answer by https (" + https->silence + ")" +
                  (answers ? ", but by http" : ", nor by http") + "\n");
      }
    }
    seed.insert(0, scheme);
    completed.push_back(seed);
  }
  if (!any)
    return fail(ErrorCode::unreachable,
                silent + (scheme_of.size() > 1 ? "; nor does another host of the seeds" : "") +
                    "; is the name right, and does the server run? With http:// or https:// before it, it is crawled "
                    "without being asked first");
  for (const std::string& seed : completed) say_aside("crawling " + shown(seed) + "\n");
  if (!scheme_of.empty()) std::this_thread::sleep_for(settings.delay);
  return seeds;
}

}  // namespace orbweaver
