// What the sample web's hosts have in addition to pages:
// redirects, errors, files, forbidden paths, the endless calendar, odd encodings.
//
//   redirects    /moved/…     301, 302, 303, 307, 308, relative and absolute, a chain, loops, another host, a forbidden
//                             target, meta refresh
//   errors       /gone/…      404, 410, 403
//   healing      /busy/…      500, 503 and 429 (both with Retry-After) that turn into a page at the second request
//   slow         -            every answer of the host waits 150 to 300 ms
//   files        /files/…     text, PNG, PDF, an empty page
//   spellings    /spell/…     one page in many spellings
//   forbidden    /private/…   robots.txt disallows it, except /private/open/
//   trap         /calendar/…  endless months; behind /trap/, which robots.txt disallows
//   crawl_delay  -            Crawl-delay: 1
//   legacy       /legacy/…    pages in windows-1251, shift_jis and iso-8859-1 whose links have queries in those bytes
//
// Pure; thread rule: functions of an immutable SampleWeb.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/sampleweb/sample_web.h"

namespace orbweaver::sample {

struct Extra {
  std::string url;       // canonical and absolute
  std::string spelling;  // as linked; empty: no ordinary page links it, only another extra
  bool fetched = true;   // false: robots.txt forbids it
  bool twice = false;    // answers only the second request
};

// The extras of one host; pages(host) says where they are linked. Empty in a calm web.
std::vector<Extra> extras_of(const SampleWeb& web, unsigned host);

// The answer when the path is an extra's, robots.txt, or an asset; nothing otherwise.
std::optional<SampleAnswer> extra_answer(const SampleWeb& web, unsigned host, std::string_view path_and_query,
                                         std::uint64_t times_asked);

std::string robots_txt(const SampleWeb& web, unsigned host);  // empty: the host has none (404)

}  // namespace orbweaver::sample
