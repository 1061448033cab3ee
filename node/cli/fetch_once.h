// One GET or look-up of a name for a command, with the crawler's own fetcher. Redirects are not followed. Thread rule:
// main thread; each call waits for its answer.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"
#include "node/fetch/fetcher.h"
#include "node/settings/settings.h"

namespace orbweaver {

// The exchange as it was, whatever its outcome. Error: the fetcher cannot be made.
Result<FetchResponse> ask_once(const CanonicalUrl& url, const Settings& settings, Duration timeout);

// The body without its transfer and content codings.
std::string decoded_body(const FetchResponse& response, const Settings& settings);

struct Looked {
  std::string address;  // 4 or 16 bytes; empty: there is none, or no name server answered
  Duration took{};
};
// The address that a request to this host and port would use. Error: the fetcher cannot be made.
Result<Looked> look_up(const std::string& host, std::uint16_t port, const Settings& settings);

struct FetchedPage {
  int status = 0;
  std::string content_type;
  std::string location;
  std::vector<std::string> link_fields;  // values of Link fields
  std::string body;                      // decoded
};

// `allow_private`: like the setting of that name. The error contains the URL and the cause.
Result<FetchedPage> fetch_once(const std::string& url, const std::vector<std::string>& allow_private);

// Reads the whole file; "-" is standard input.
Result<std::string> read_file(const std::string& path);

}  // namespace orbweaver
