// orbweaver crawl: a ring of peers on this machine, as processes, crawled to its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/cli/query_flags.h"
#include "node/cli/setting_flags.h"

namespace orbweaver {

struct CrawlOptions {
  std::vector<std::string> urls;
  std::string seeds_file;
  QueryFlags queries;
  std::uint32_t peers = 1;
  std::string out = "orbweaver-crawl";
  std::string user;     // when started as root: the user to become; empty: stay root
  std::string recrawl;  // a duration; empty: none
  SettingFlags flags;
  bool as_json = false;  // the summary as JSON on standard output
  bool quiet = false;    // no progress line
};

// Starts the peers, restarts those that die, shows progress on standard error, stops cleanly on SIGINT and SIGTERM,
// prints a summary. Exit code 0 when the crawl ended or was stopped cleanly; 12 when it ended and nothing was fetched.
int run_crawl(const CrawlOptions& options);

}  // namespace orbweaver
