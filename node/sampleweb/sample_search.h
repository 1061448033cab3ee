// The sample web's search engine, on its own host. It finds pages of the sample web by the words of their titles and
// headings, ten results per page. Around the results there is what real engines have: the engine's own links,
// adverts, paging, cached copies; and its robots.txt forbids /private/.
// Everything is a pure function of the web and the URL.
//
//   /                                    the engine's front page
//   /search?q=WORDS&page=N               results in <li class="result">; N from 1
//   /search?q=WORDS&start=I              the same from the I-th result on, from 1
//   /private/search?q=WORDS&page=N       the same, forbidden
//   /go?q=WORDS&page=N                   the same, each link as /out?to=URL, which redirects there
// Words: a page must have all of them, in any order; in double quotes: as a phrase. Thread rule: immutable once made,
// except the index, which the first search makes under a lock (100 us per page). Memory: about 200 bytes per page.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "node/sampleweb/sample_web.h"

namespace orbweaver::sample {

inline constexpr std::string_view search_host = "search.findall.test";
// The number of indexed pages; the first page of each host comes before the second of any.
inline constexpr unsigned max_indexed_pages = 20'000;
inline constexpr unsigned results_a_page = 10;

class SampleSearch {
 public:
  explicit SampleSearch(const SampleWeb& web) : web_(web) {}

  SampleAnswer answer(std::string_view path_and_query) const;
  // URLs of all pages that a query finds, best first.
  std::vector<std::string> find(std::string_view words) const;

 private:
  struct Entry {
    std::string url;
    std::string text;   // words of title and headings, lower case, a space around each, " | " between parts
    std::string title;  // as written
  };
  const std::vector<Entry>& index() const;
  std::vector<const Entry*> hits(std::string_view words) const;
  std::string results_page(std::string_view path, std::string_view words, std::uint64_t first) const;

  const SampleWeb& web_;
  mutable std::mutex mutex_;
  mutable std::vector<Entry> index_;
};

}  // namespace orbweaver::sample
