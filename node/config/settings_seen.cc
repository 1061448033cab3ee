// The rows of the seen-set: exact, or a Bloom filter of a stated size and rate (docs/inside/seen-set.md).
#include <charconv>

#include "node/config/setting_def.h"
#include "node/text/shown.h"

namespace orbweaver {
namespace {

constexpr double rate_min = 1e-12;
constexpr double max_rate = 0.5;

Result<double> parse_rate(std::string_view text) {
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc{} || end != text.data() + text.size())
    return fail(ErrorCode::invalid_setting,
                shown(text) + " is not a number: allowed is 1e-12 to 0.5, for example 0.000001 or 1e-6");
  if (!(rate >= rate_min && rate <= max_rate))
    return fail(ErrorCode::invalid_setting, shown(text) + " is out of bounds: allowed is 1e-12 to 0.5");
  return rate;
}

std::string check_rate(std::string_view text) {
  const Result<double> rate = parse_rate(text);
  return rate ? std::string{} : rate.error().message;
}

}  // namespace

void add_seen_settings(std::vector<SettingDef>& rows) {
  rows.push_back(
      choice_setting({"seen",
                      "What decides whether a link was seen: the disk (exact), or a Bloom filter in memory before it "
                      "(bloom). The filter may mistake a few new pages for seen ones; `status` says how many.",
                      "A crawl must not lose pages unless you say so. It is each peer's own setting: it concerns the "
                      "hosts that the peer owns, and may differ from one run to the next."},
                     &Settings::seen, SeenSet::exact, {"exact", "bloom"}));
  rows.push_back(
      text_setting({"seen_false_positives",
                    "With `seen` bloom: the share of new pages that may be mistaken for seen ones once `seen_urls` are "
                    "in the filter.",
                    "One page in a million, for 29 bits per URL; ten times fewer mistakes cost 4.8 bits more."},
                   &Settings::seen_false_positives, "0.000001", "1e-12 to 0.5", check_rate));
  rows.push_back(count_setting(
      {"seen_urls",
       "With `seen` bloom: the URLs that one peer's filter is planned for, including those that it only "
       "keeps a copy of.",
       "10 million take 36 MB, allocated at the start; twice that with `max_depth`, `max_hops_off_site` or "
       "`order = best`. The filter does not grow: beyond the plan it loses more, and says so."},
      &Settings::seen_urls, std::uint64_t{10'000'000}, std::uint64_t{1}, std::uint64_t{100'000'000'000}));
}

storage::SeenFilter::Config seen_filter_config(const Settings& settings) {
  const Result<double> rate = parse_rate(settings.seen_false_positives);
  const bool way_matters =
      settings.max_depth > 0 || settings.max_hops_off_site > 0 || settings.order == CrawlOrder::best;
  return {settings.seen_urls, rate.value_or(max_rate), way_matters};
}

}  // namespace orbweaver
