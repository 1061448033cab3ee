// Queries as seeds, on the command line of `crawl` and `seed`: --keywords, --engine, and how to combine and page them
// (node/scope/search_urls.h; docs/how-to/keywords.md). Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/scope/search_urls.h"

namespace orbweaver {

struct QueryFlags {
  std::vector<std::string> keywords;  // as given; repeated flags add up; "@FILE" means a file's lines
  std::vector<std::string> engines;
  std::string combine = "each";
  Paging paging;
  std::uint64_t max_queries = 1000;

  bool any() const { return !keywords.empty() || !engines.empty(); }
};

// `flags` must outlive the parse.
void add_query_flags(CLI::App& command, QueryFlags& flags);

struct QuerySeeds {
  std::vector<std::string> urls;
  std::vector<std::string> prefixes;  // from the engines' templates
};
// The search URLs; none when no flag was given. Queries beyond max_queries are reported on standard error. Errors:
// keywords without an engine or the reverse, and errors from search_urls.h.
Result<QuerySeeds> query_seeds(const QueryFlags& flags);

// Default entries of the setting result_pages for these engines: every page whose URL begins like the template, and all
// its links that leave the engine.
std::vector<std::string> usual_result_pages(const QuerySeeds& seeds);

}  // namespace orbweaver
