// Queries as seeds: keywords combined into the search URLs of any engine, after the query builder of the corpus crawler
// (docs/how-to/keywords.md). Templates are OpenSearch's (OpenSearch 1.1 Draft 6, "OpenSearch URL template syntax"): an
// engine's own description provides them. Pure. Thread rule: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// How keywords, each of one or more words, become queries:
//   each     one query per keyword:                    a b | c d
//   all      one query of all of them:                 a b c d
//   pairs    one query per pair of keywords:           a b c d
//   phrases  one query per keyword, words together:    "a b" | "c d"
enum class Combine : std::uint8_t { each, all, pairs, phrases };

// "a b; c d": keywords between semicolons or line breaks, white space folded, each once, in order. An error when none
// is left, or when one is not UTF-8 or is longer than max_keyword_bytes.
Result<std::vector<std::string>> parse_keywords(std::string_view text);
inline constexpr std::size_t max_keyword_bytes = 1024;

// "each,pairs". The error names the word that is not allowed.
Result<std::vector<Combine>> parse_combine(std::string_view text);

struct Queries {
  std::vector<std::string> words;  // each once
  std::uint64_t left_out = 0;      // beyond the bound
};
// In the order of `how`; at most `max_queries`. Pairs of fewer than two keywords: none.
Queries combine_keywords(const std::vector<std::string>& keywords, const std::vector<Combine>& how,
                         std::uint64_t max_queries);

// Which pages of results are requested, and how they are counted.
struct Paging {
  std::uint32_t pages = 1;
  std::uint32_t first_page = 1;   // the value of {startPage} on the first page
  std::uint32_t first_index = 1;  // the value of {startIndex} there
  std::uint32_t count = 10;       // results per page: {count}, and the step of {startIndex}
};

// An engine's URL with parameters: {searchTerms}, which is required, {startPage}, {startIndex}, {count}, {language},
// {inputEncoding}, {outputEncoding}. A parameter with a '?' ("{startPage?}") is optional. An unknown optional one
// stays empty; an unknown one without '?' is an error.
class EngineTemplate {
 public:
  // The error says what is wrong with the text and shows what a template looks like.
  static Result<EngineTemplate> parse(std::string_view text);

  bool has_paging() const;
  // The search URL of one page, counted from 0. Words are UTF-8; every byte is percent-encoded except RFC 3986's
  // unreserved ones: "c++ & co" is one value, wherever it is placed.
  std::string url(std::string_view words, std::uint32_t page, const Paging& paging) const;
  // Everything before the first parameter: all search URLs of the engine begin with it.
  const std::string& prefix() const { return parts_.front().text; }

 private:
  enum class Place : std::uint8_t { nothing, words, page, index, count, language, encoding, empty };
  struct Part {  // a text, and the parameter after it
    std::string text;
    Place place = Place::nothing;
  };
  std::vector<Part> parts_;
};

// Queries times engines times pages, query by query. An error when a template has no parameter for the page and
// several pages are requested, or when a result is not a URL.
Result<std::vector<std::string>> search_urls(const std::vector<EngineTemplate>& engines,
                                             const std::vector<std::string>& queries, const Paging& paging);

}  // namespace orbweaver
