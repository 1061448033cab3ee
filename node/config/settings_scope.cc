// The rows of the crawl's scope: scope lists, limits and budgets,
// traps (docs/how-to/scope.md, docs/how-to/traps.md). All ring-wide.
#include <algorithm>

#include "node/config/setting_def.h"
#include "node/html/selector.h"
#include "node/scope/page_rules.h"
#include "node/scope/re2_patterns.h"
#include "node/scope/scope_lists.h"
#include "node/scope/traps.h"
#include "node/text/shown.h"
#include "storage/record.h"

namespace orbweaver {
namespace {

using Rows = std::vector<SettingDef>;

constexpr std::uint64_t max_pages = 1'000'000'000'000;

void add_list(Rows& rows, Words words, Field<std::vector<std::string>> field, std::string_view bounds,
              const TextCheck& check, char separator = ',') {
  SettingDef def = list_setting(std::move(words), field, bounds, check, separator);
  def.from_file = true;
  rows.push_back(std::move(def));
}

std::string check_regular_expression(std::string_view text) {
  const std::string wrong = check_pattern(text);
  return wrong.empty() ? wrong : shown(text) + " is not a regular expression of RE2: " + wrong;
}

std::string check_result_page(std::string_view text) {
  const Result<ResultPageEntry> entry = parse_result_page(text);
  if (!entry) return shown(text) + ": " + entry.error().message;
  if (entry->select.empty()) return {};
  const Result<html::Selector> selector = html::Selector::parse(entry->select);
  return selector ? "" : shown(text) + ": " + selector.error().message;
}

std::string check_site_links(std::string_view text) {
  const Result<SiteLinksEntry> entry = parse_site_links(text);
  return entry ? "" : shown(text) + ": " + entry.error().message;
}

std::string check_trap_rule(std::string_view text) {
  if (trap_rule_of(text)) return {};
  std::string all;
  for (const std::string_view name : trap_rule_names) all += (all.empty() ? "" : ", ") + std::string(name);
  return shown(text) + " is not a trap rule; there are " + all;
}

void add_lists(Rows& rows) {
  constexpr std::string_view surts = "SURT prefixes, separated by spaces, or @FILE with one a line";
  constexpr std::string_view patterns = "RE2 expressions, separated by spaces, or @FILE with one a line";
  constexpr std::string_view endings = "endings such as pdf or tar.gz, or @FILE with one a line";
  constexpr std::string_view types = "media types such as text/html or image/*, or @FILE with one a line";
  add_list(
      rows,
      {"surt_reject", "URLs with one of these SURT prefixes are kept out.",
       "Web archives name a domain, a host or a directory this way: `org,example,` or `http://(org,example,)/old/`."},
      &Settings::surt_reject, surts, check_surt_prefix, ' ');
  add_list(rows,
           {"surt_accept", "URLs with one of these SURT prefixes are in scope too, whatever `scope` says.",
            "For a crawl of some sites and of parts of others, without seeds there."},
           &Settings::surt_accept, surts, check_surt_prefix, ' ');
  add_list(rows,
           {"url_deny", "URLs in which one of these expressions matches are kept out.",
            "RE2, because its time is linear for every expression and URL."},
           &Settings::url_deny, patterns, check_regular_expression, ' ');
  add_list(rows,
           {"url_allow", "If there are any, only URLs in which one of these expressions matches are in scope.",
            "Narrows `scope`; `surt_accept` widens it."},
           &Settings::url_allow, patterns, check_regular_expression, ' ');
  add_list(rows,
           {"extensions_deny", "URLs whose path has one of these endings are kept out.",
            "Saves the request. `content_types_deny` costs a request, and is certain."},
           &Settings::extensions_deny, endings, check_ending);
  add_list(rows,
           {"extensions_allow", "If there are any, a path that has an ending must have one of these to be in scope.",
            "A path without a dot in its last segment may be anything: it stays in scope."},
           &Settings::extensions_allow, endings, check_ending);
  add_list(rows,
           {"content_types_deny", "Responses of these types are excluded: neither archived nor read for links.",
            "A response without a Content-Type is kept: there is nothing to judge it by."},
           &Settings::content_types_deny, types, check_content_type);
  add_list(rows,
           {"content_types_allow", "If there are any, responses of other types are excluded.",
            "Redirects and errors are not judged by it: their bodies are not what was requested."},
           &Settings::content_types_allow, types, check_content_type);
}

// Entries contain spaces and expressions, which contain commas: a semicolon ends one ("\\x3b" in an expression).
void add_page_rules(Rows& rows) {
  add_list(rows,
           {"result_pages",
            "Search engines' result pages: an expression for their URLs, then which of their links are results.",
            "Results are seeds, whatever `scope` says. No other link of such a page is followed, and search URLs given "
            "as seeds do not bring the engine's site into scope (docs/how-to/keywords.md)."},
           &Settings::result_pages,
           "RE2 [select=\"SELECTOR\"] [url=RE2] [unwrap=PARAMETER], separated by semicolons, or @FILE with one a line",
           check_result_page, ';');
  rows.push_back(count_setting(
      {"max_results", "Number of seeds, those of result pages included, after which result pages add no more.",
       "Every peer keeps all seeds in memory, and rewrites them when some are added."},
      &Settings::max_results, 10'000U, 1U, 100'000U));
  add_list(
      rows,
      {"site_links", "Which links of a site's pages are kept, as in `*.example.org keep=/news/ same_host=yes`.",
       "None: all that are in scope."},
      &Settings::site_links,
      "HOST, *.HOST or *, then keep=RE2, drop=RE2, same_host=yes, separated by semicolons, or @FILE with one a line",
      check_site_links, ';');
}

void add_limits(Rows& rows) {
  rows.push_back(
      count_setting({"max_hops_off_site", "How many links in a row may lead out of `scope`; 0: none.",
                     "1 takes the pages that a site links to, and nothing behind them. The lists still keep URLs out."},
                    &Settings::max_hops_off_site, 0U, 0U, std::uint32_t{storage::max_off_site}));
  rows.push_back(count_setting(
      {"max_depth", "Links followed from a seed, which has depth 0; 0: no limit.", "Most users want a whole site."},
      &Settings::max_depth, 0U, 0U, 65'535U));
  rows.push_back(count_setting(
      {"max_pages", "Pages that the ring fetches in total; 0: no limit.", "Most users want a whole site."},
      &Settings::max_pages, std::uint64_t{0}, std::uint64_t{0}, max_pages));
  rows.push_back(size_setting(
      {"max_bytes", "Bytes of responses, as received, after which the ring requests no more pages; 0: no limit.",
       "Counted in waves, so the pages granted by then may exceed it: up to 32 per peer."},
      &Settings::max_bytes, "0B", "0B", "1024TiB"));
  rows.push_back(count_setting(
      {"max_pages_per_host", "Pages fetched from one host; its other URLs are excluded with reason budget.",
       "0: no limit. Exact: a host has one owner at a time, and its count moves with it."},
      &Settings::max_pages_per_host, std::uint64_t{0}, std::uint64_t{0}, max_pages));
  rows.push_back(size_setting(
      {"max_bytes_per_host", "Bytes of one host's responses after which no more of its pages are requested.",
       "0: no limit. Exceeded by the page that reaches it."},
      &Settings::max_bytes_per_host, "0B", "0B", "1024TiB"));
  rows.push_back(count_setting({"max_pages_per_domain", "Pages that the ring fetches from one registered domain.",
                                "0: no limit. Needs `partition_by = domain`: one peer holds a domain at a time, and "
                                "its count moves with it."},
                               &Settings::max_pages_per_domain, std::uint64_t{0}, std::uint64_t{0}, max_pages));
  rows.push_back(
      size_setting({"max_bytes_per_domain",
                    "Bytes of one registered domain's responses after which no more of its pages are requested.",
                    "0: no limit. Exceeded by the pages in flight when it is reached. Needs `partition_by = domain`."},
                   &Settings::max_bytes_per_domain, "0B", "0B", "1024TiB"));
}

void add_traps(Rows& rows) {
  SettingDef rules = list_setting(
      {"trap_rules", "The rules that look for traps; empty: none.",
       "docs/how-to/traps.md says what each suspects. A false suspicion costs nothing until `trap_budget` is used up."},
      &Settings::trap_rules, "names of docs/how-to/traps.md", check_trap_rule);
  for (const std::string_view name : trap_rule_names)
    rules.row.default_text += (rules.row.default_text.empty() ? "" : ",") + std::string(name);
  rows.push_back(std::move(rules));
  rows.push_back(count_setting({"trap_budget", "URLs suspected by one rule on one host that are fetched anyway.",
                                "Enough to archive the content of a few odd URLs, and little compared with a site. "
                                "URLs beyond it are kept as excluded."},
                               &Settings::trap_budget, 100U, 0U, 1'000'000'000U));
  rows.push_back(count_setting(
      {"trap_repeats",
       "A run of path segments repeated this many times in a row is suspect; for one segment, twice as often.",
       "`/a/a/a/` results from relative links on error pages. Twice in a row is common in real trees."},
      &Settings::trap_repeats, 3U, 2U, 100U));
  rows.push_back(
      count_setting({"trap_year_first", "A calendar's page before this year is suspect.",
                     "Endless calendars go back beyond 1970; an archive of old newspapers needs an earlier year."},
                    &Settings::trap_year_first, 1970U, 0U, 3000U));
  rows.push_back(count_setting({"trap_years_ahead", "A calendar's page more than this many years ahead is suspect.",
                                "Events are planned for this year and the next."},
                               &Settings::trap_years_ahead, 2U, 0U, 1000U));
  rows.push_back(
      count_setting({"trap_parameters", "A query with more parameters is suspect.",
                     "Filters that add themselves to one another grow without end; a form has fewer parameters."},
                    &Settings::trap_parameters, 16U, 1U, 4096U));
  rows.push_back(
      size_setting({"trap_query_bytes", "A longer query is suspect.", "Signed addresses take about 600 bytes."},
                   &Settings::trap_query_bytes, "1KiB", "16B", "4KiB"));
  rows.push_back(
      count_setting({"trap_depth", "A URL more links away from a seed is suspect.",
                     "Sites are a few dozen links deep. A longer chain of next pages is bounded, not cut off."},
                    &Settings::trap_depth, 200U, 1U, 65'535U));
  rows.push_back(count_setting(
      {"trap_same_content", "Once a host has sent one body this many times, new links of further copies are suspect.",
       "A soft 404 answers every address with one page, whose relative links make new addresses."},
      &Settings::trap_same_content, 32U, 1U, 1'000'000U));
  rows.push_back(count_setting(
      {"trap_mirror_pages",
       "A host with this many pages equal to another host's at the same paths is a mirror: its new links are suspect.",
       "Two sites share a few pages, such as a server's start page or a licence. They do not share more than that, nor "
       "three quarters of all pages compared."},
      &Settings::trap_mirror_pages, 16U, 2U, 1'000U));
}

}  // namespace

void add_scope_settings(std::vector<SettingDef>& rows) {
  add_lists(rows);
  add_page_rules(rows);
  add_limits(rows);
  add_traps(rows);
}

}  // namespace orbweaver
