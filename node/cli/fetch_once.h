// One GET for a tool, with the crawler's own fetcher: codings removed, redirects not followed.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

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
