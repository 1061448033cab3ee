// Queries as seeds: keywords combined into the search URLs of any engine, after the query builder of the corpus crawler
// (docs/how-to/keywords.md). Templates are OpenSearch's (OpenSearch 1.1 Draft 6, "OpenSearch URL template syntax"), so
// that an engine's own description gives them. Pure. Thread rule: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// How keywords, each of one word or several, become queries:
//   each     one query a keyword:                      a b | c d
//   all      one query of all of them:                 a b c d
//   pairs    one query for every two keywords:         a b c d
//   phrases  one query a keyword, its words together:  "a b" | "c d"
enum class Combine : std::uint8_t { each, all, pairs, phrases };

// "a b; c d": keywords between semicolons or line breaks, white space folded, each once, in order. An error when none
// is left, or when one is no UTF-8 or longer than keyword_bytes_max.
Result<std::vector<std::string>> parse_keywords(std::string_view text);
inline constexpr std::size_t keyword_bytes_max = 1024;

// "each,pairs". The error names the word that is none.
Result<std::vector<Combine>> parse_combine(std::string_view text);

struct Queries {
  std::vector<std::string> words;  // each once
  std::uint64_t left_out = 0;      // beyond the bound
};
// In the order of `how`; at most `queries_max`. Pairs of fewer than two keywords: none.
Queries combine_keywords(const std::vector<std::string>& keywords, const std::vector<Combine>& how,
                         std::uint64_t queries_max);

// Which pages of results are asked for, and how they are counted.
struct Paging {
  std::uint32_t pages = 1;
  std::uint32_t first_page = 1;   // what {startPage} is on the first page
  std::uint32_t first_index = 1;  // what {startIndex} is there
  std::uint32_t count = 10;       // results a page: {count}, and the step of {startIndex}
};

// An engine's URL with places for what is asked: {searchTerms}, which must be there, {startPage}, {startIndex},
// {count}, {language}, {inputEncoding}, {outputEncoding}. A place with a '?' ("{startPage?}") may be left empty, and
// such places are when they are none of these; an unknown one without is an error.
class EngineTemplate {
 public:
  // The error says what is wrong with the text and shows what a template looks like.
  static Result<EngineTemplate> parse(std::string_view text);

  bool has_paging() const;
  // The search URL of one page, 0 being the first. Words are UTF-8, every byte but RFC 3986's unreserved ones
  // percent-encoded: "c++ & co" stays one value wherever it stands.
  std::string url(std::string_view words, std::uint32_t page, const Paging& paging) const;
  // Everything before the first place: what all search URLs of the engine begin with.
  const std::string& prefix() const { return parts_.front().text; }

 private:
  enum class Place : std::uint8_t { nothing, words, page, index, count, language, encoding, empty };
  struct Part {  // a text, and the place behind it
    std::string text;
    Place place = Place::nothing;
  };
  std::vector<Part> parts_;
};

// Queries times engines times pages, query by query. An error when a template has no place for the page and several
// pages are asked for, or when a URL that comes out is none.
Result<std::vector<std::string>> search_urls(const std::vector<EngineTemplate>& engines,
                                             const std::vector<std::string>& queries, const Paging& paging);

}  // namespace orbweaver
