#include "node/cli/query_flags.h"

#include <cstdio>

#include "node/config/sources/list_file.h"
#include "node/terminal/say.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

void add_query_flags(CLI::App& command, QueryFlags& flags) {
  const auto add = [&command](const char* name, auto& field, const char* help) {
    return command.add_option(name, field, help)->group("Queries as seeds");
  };
  add("--keywords", flags.keywords, "words to search for, as \"a b; c d\"; @FILE: a file of them, one a line")
      ->type_name("WORDS");
  add("--engine", flags.engines,
      "where to search: a URL with {searchTerms} and, for more pages, {startPage} or {startIndex} (OpenSearch); may be "
      "repeated")
      ->type_name("TEMPLATE");
  add("--combine", flags.combine, "queries of each keyword, of all together, of pairs, of phrases; several with commas")
      ->capture_default_str();
  add("--pages", flags.paging.pages, "pages of results of each query")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  add("--page-first", flags.paging.first_page, "what {startPage} is on the first page")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  add("--index-first", flags.paging.first_index, "what {startIndex} is on the first page")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  add("--count", flags.paging.count, "results per page: {count}, and the step of {startIndex}")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  add("--max-queries", flags.max_queries, "maximum number of queries; each is sent to every engine")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
}

Result<QuerySeeds> query_seeds(const QueryFlags& flags) {
  QuerySeeds made;
  if (!flags.any()) return made;
  if (flags.engines.empty())
    return fail(ErrorCode::invalid_input,
                "keywords, and no engine to ask; name one with --engine "
                "\"https://search.example/?q={searchTerms}&page={startPage?}\"");
  if (flags.keywords.empty())
    return fail(ErrorCode::invalid_input, "an engine, and nothing to ask it; give --keywords \"a b; c d\"");
  const Result<std::vector<std::string>> entries = expand_list_files(flags.keywords);
  if (!entries) return fail(ErrorCode::invalid_input, "--keywords: " + entries.error().message);
  std::string all;
  for (const std::string& entry : *entries) all += (all.empty() ? "" : "\n") + entry;
  const Result<std::vector<std::string>> keywords = parse_keywords(all);
  if (!keywords) {
    // Finds the wrong entry, and its number and file if the entries come from a file.
    for (std::size_t at = 0; at < entries->size(); ++at) {
      const auto single = parse_keywords((*entries)[at]);
      if (single) continue;
      std::string where = entries->size() == flags.keywords.size() ? "" : ", entry " + std::to_string(at + 1);
      for (const std::string& given : flags.keywords)
        if (given.starts_with('@')) where = " of " + given.substr(1) + where;
      return fail(single.error().code, "--keywords" + where + ": " + single.error().message);
    }
    std::string files;
    for (const std::string& given : flags.keywords)
      if (given.starts_with('@')) files += " in " + given.substr(1);
    return fail(keywords.error().code, "--keywords" + files + ": " + keywords.error().message);
  }
  const Result<std::vector<Combine>> how = parse_combine(flags.combine);
  if (!how) return tl::make_unexpected(how.error());
  std::vector<EngineTemplate> engines;
  for (const std::string& text : flags.engines) {
    Result<EngineTemplate> engine = EngineTemplate::parse(text);
    if (!engine) return tl::make_unexpected(engine.error());
    made.prefixes.push_back(engine->prefix());
    engines.push_back(std::move(*engine));
  }
  const Queries queries = combine_keywords(*keywords, *how, flags.max_queries);
  if (queries.words.empty())
    return fail(ErrorCode::invalid_input,
                "these keywords make no query with --combine " + flags.combine + "; pairs need two keywords at least");
  if (queries.left_out > 0)
    complain("%llu queries are left out beyond %llu (--max-queries)", static_cast<unsigned long long>(queries.left_out),
             static_cast<unsigned long long>(flags.max_queries));
  Result<std::vector<std::string>> urls = search_urls(engines, queries.words, flags.paging);
  if (!urls) return tl::make_unexpected(urls.error());
  made.urls = std::move(*urls);
  return made;
}

std::vector<std::string> usual_result_pages(const QuerySeeds& seeds) {
  std::vector<std::string> entries;
  for (const std::string& prefix : seeds.prefixes) {
    // The pages' URLs are canonical, so their prefix must be too; the last name in a query has no value yet.
    const Result<CanonicalUrl> url = CanonicalUrl::parse(prefix);
    std::string pattern = "^";
    for (const char c : url ? url->text() : prefix) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                         c == ':' || c == '=' || c == '&' || c == '%' || c == '-' || c == '_';
      if (c == ';') {
        pattern += "\\x3b";  // a semicolon would end the entry
      } else {
        pattern += plain ? "" : "\\";
        pattern += c;
      }
    }
    entries.push_back(std::move(pattern));
  }
  return entries;
}

}  // namespace orbweaver
