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

Result<FetchedPage> fetch_once(const std::string& text, const std::vector<std::string>& allow_private) {
  const Result<CanonicalUrl> url = CanonicalUrl::parse(text);
  if (!url) return tl::make_unexpected(url.error());
  const Result<LoadedSettings> loaded = load_settings({}, {});
  if (!loaded) return tl::make_unexpected(loaded.error());
  const Settings& settings = loaded->values;
  if (is_bad_port(url->port(), settings.allow_ports))
    return fail(ErrorCode::invalid_input,
                url->text() + ": port " + std::to_string(url->port()) +
                    " belongs to another protocol (the Fetch standard's bad ports); ORBWEAVER_ALLOW_PORTS permits it");
  const Clock clock;
  Result<CurlFetcherConfig> made = fetcher_config(settings);
  if (!made) return tl::make_unexpected(made.error());
  CurlFetcherConfig config = std::move(*made);
  auto guard = AddressGuard::create(allow_private, settings.deny_addresses);
  if (!guard) return tl::make_unexpected(guard.error());
  config.guard = std::move(*guard);
  config.clock = [&clock] { return clock.now(); };
  std::promise<FetchResponse> answered;
  auto fetcher = CurlFetcher::create(std::move(config),
                                     [&answered](FetchResponse response) { answered.set_value(std::move(response)); });
  if (!fetcher) return tl::make_unexpected(fetcher.error());
  (*fetcher)->start({.id = 1, .url = *url, .max_body_bytes = static_cast<std::size_t>(settings.max_body_bytes)});
  const FetchResponse response = answered.get_future().get();
  (*fetcher)->stop();
  if (response.error == FetchError::address_refused)
    return fail(ErrorCode::unreachable,
                url->text() + ": " + response.error_text + "; --allow-private RANGE permits it");
  if (response.error != FetchError::none) return fail(ErrorCode::unreachable, url->text() + ": " + response.error_text);
  FetchedPage page;
  page.status = response.status;
  page.content_type = content_type_of(response.response_head);
  page.location = header_value(response.response_head, "location").value_or("");
  page.link_fields = header_values(response.response_head, "link");
  page.body = response.body;
  const auto transfer = header_value(response.response_head, "transfer-encoding");
  if (transfer && transfer->find("chunked") != std::string::npos)
    page.body = decode_chunked(page.body, static_cast<std::size_t>(settings.max_body_bytes)).bytes;
  if (const auto coding = header_value(response.response_head, "content-encoding"))
    page.body = decode_content(page.body, *coding, static_cast<std::size_t>(settings.max_decoded_bytes)).bytes;
  return page;
}

Result<std::string> read_file(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::invalid_input, "cannot read " + path + ": " + std::strerror(errno));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace orbweaver
