// Queries as seeds, on the command line of `crawl` and `seed`: --keywords, --engine and how they are combined and paged
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
  std::vector<std::string> keywords;  // as given; several add up; "@FILE" stands for a file's lines
  std::vector<std::string> engines;
  std::string combine = "each";
  Paging paging;
  std::uint64_t queries_max = 1000;

  bool any() const { return !keywords.empty() || !engines.empty(); }
};

// `flags` must outlive the parse.
void add_query_flags(CLI::App& command, QueryFlags& flags);

struct QuerySeeds {
  std::vector<std::string> urls;
  std::vector<std::string> prefixes;  // of the engines' templates
};
// The search URLs; nothing when no flag was given. What queries_max leaves out is said on standard error. Errors:
// keywords without an engine or the other way round, and what search_urls.h refuses.
Result<QuerySeeds> query_seeds(const QueryFlags& flags);

// Entries of the setting result_pages for these engines, when nothing better is known: every page that begins as the
// template does, and all its links that leave the engine.
std::vector<std::string> usual_result_pages(const QuerySeeds& seeds);

}  // namespace orbweaver
