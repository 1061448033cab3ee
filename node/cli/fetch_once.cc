#include "node/cli/fetch_once.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>

#include "node/config/settings_table.h"
#include "node/config/sources/load_settings.h"
#include "node/fetch/fetcher_config.h"
#include "node/http/http_message.h"
#include "node/settings/settings.h"
#include "node/system/clock.h"
#include "node/url/bad_ports.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

namespace {

using Fetching = Result<std::unique_ptr<CurlFetcher>>;

Fetching fetcher_for(const Settings& settings, const Clock& clock, Fetcher::Done done) {
  Result<CurlFetcherConfig> config = fetcher_config(settings);
  if (!config) return tl::make_unexpected(config.error());
  config->clock = [&clock] { return clock.now(); };
  return CurlFetcher::create(std::move(*config), std::move(done));
}

}  // namespace

Result<FetchResponse> ask_once(const CanonicalUrl& url, const Settings& settings, Duration timeout) {
  const Clock clock;
  std::promise<FetchResponse> answered;
  const Fetching fetcher =
      fetcher_for(settings, clock, [&answered](FetchResponse response) { answered.set_value(std::move(response)); });
  if (!fetcher) return tl::make_unexpected(fetcher.error());
  FetchRequest request{.id = 1, .url = url, .max_body_bytes = static_cast<std::size_t>(settings.max_body_bytes)};
  request.timeout = timeout;
  (*fetcher)->start(std::move(request));
  FetchResponse response = answered.get_future().get();
  (*fetcher)->stop();
  return response;
}

Result<Looked> look_up(const std::string& host, std::uint16_t port, const Settings& settings) {
  const Clock clock;
  const Fetching fetcher = fetcher_for(settings, clock, [](const FetchResponse&) {});
  if (!fetcher) return tl::make_unexpected(fetcher.error());
  std::promise<std::string> answered;
  const Time begun = clock.now();
  (*fetcher)->resolve(host, port, [&answered](std::string address) { answered.set_value(std::move(address)); });
  Looked looked{.address = answered.get_future().get()};
  looked.took = clock.now() - begun;
  (*fetcher)->stop();
  return looked;
}

std::string decoded_body(const FetchResponse& response, const Settings& settings) {
  return decoded_body(response.response_head, response.body, static_cast<std::size_t>(settings.max_body_bytes),
                      static_cast<std::size_t>(settings.max_decoded_bytes));
}

Result<FetchedPage> fetch_once(const std::string& text, const std::vector<std::string>& allow_private) {
  const Result<CanonicalUrl> url = CanonicalUrl::parse(text);
  if (!url) return tl::make_unexpected(url.error());
  const Result<LoadedSettings> loaded = load_settings({}, {});
  if (!loaded) return tl::make_unexpected(loaded.error());
  Settings settings = loaded->values;
  if (is_bad_port(url->port(), settings.allow_ports))
    return fail(ErrorCode::invalid_input,
                url->text() + ": port " + std::to_string(url->port()) +
                    " belongs to another protocol (the Fetch standard's bad ports); ORBWEAVER_ALLOW_PORTS permits it");
  settings.allow_private = allow_private;
  const Result<FetchResponse> response = ask_once(*url, settings, {});
  if (!response) return tl::make_unexpected(response.error());
  if (response->error == FetchError::address_refused)
    return fail(ErrorCode::unreachable,
                url->text() + ": " + response->error_text + "; --allow-private RANGE permits it");
  if (response->error != FetchError::none)
    return fail(ErrorCode::unreachable, url->text() + ": " + response->error_text);
  FetchedPage page;
  page.status = response->status;
  page.content_type = content_type_of(response->response_head);
  page.location = header_value(response->response_head, "location").value_or("");
  page.link_fields = header_values(response->response_head, "link");
  page.body = decoded_body(*response, settings);
  return page;
}

Result<std::string> read_file(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::invalid_input, "cannot read " + path + ": " + std::strerror(errno));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace orbweaver
