#include "node/ring_view/outcomes_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "node/crawl/outside_json.h"
#include "node/ring_view/ring_limit.h"

namespace orbweaver {

namespace {

using nlohmann::json;

constexpr double most = 1e15;

std::uint64_t whole(const json& object, const char* path) {
  return static_cast<std::uint64_t>(std::clamp(number_at(object, path), 0.0, most));
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", seconds);
  return text.data();
}

}  // namespace

std::vector<OutcomeView> outcomes_view(const json& status) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> sums;
  for (const json* const part : parts_of(status))
    for (const char* const state : {"fetched", "failed", "excluded"}) {
      const json::json_pointer place(std::string("/outcomes/") + state);
      if (!part->contains(place) || !part->at(place).is_object()) continue;
      for (const auto& [reason, count] : part->at(place).items())
        if (count.is_number())
          sums[{state, reason}] += static_cast<std::uint64_t>(std::clamp(count.get<double>(), 0.0, most));
    }
  std::vector<OutcomeView> outcomes;
  for (const auto& [kind, urls] : sums) outcomes.push_back({kind.first, kind.second, urls});
  std::stable_sort(outcomes.begin(), outcomes.end(),
                   [](const OutcomeView& a, const OutcomeView& b) { return a.urls > b.urls; });
  return outcomes;
}

GapsView gaps_view(const json& status) {
  GapsView view;
  for (const json* const part : parts_of(status)) {
    const std::uint64_t gaps = whole(*part, "/politeness/gaps");
    if (gaps == 0) continue;
    const double least = std::clamp(number_at(*part, "/politeness/least_us"), -most, most) / 1e6;
    const double promised = std::clamp(number_at(*part, "/politeness/promised_us"), 0.0, most) / 1e6;
    if (view.gaps == 0 || least * view.promised_seconds < view.least_seconds * promised) {
      view.least_seconds = least;
      view.promised_seconds = promised;
    }
    view.gaps += gaps;
    view.too_short += whole(*part, "/politeness/too_short");
  }
  return view;
}

std::string GapsView::text() const {
  if (gaps == 0) return "no host was asked twice yet";
  const std::string shortest = "the shortest took " + seconds_text(least_seconds) + " where " +
                               seconds_text(promised_seconds) + " were promised";
  const std::string all = std::to_string(gaps) + (gaps == 1 ? " wait" : " waits") + " between two requests to one host";
  if (too_short == 0) return all + ", none too short; " + shortest;
  return std::to_string(too_short) + " of " + all + (too_short == 1 ? " was" : " were") + " too short; " + shortest;
}

json to_json(const std::vector<OutcomeView>& outcomes) {
  json list = json::array();
  for (const OutcomeView& outcome : outcomes)
    list.push_back({{"state", outcome.state}, {"reason", outcome.reason}, {"urls", outcome.urls}});
  return list;
}

json to_json(const GapsView& gaps) {
  json view = {{"gaps", gaps.gaps}, {"too_short", gaps.too_short}, {"text", gaps.text()}};
  if (gaps.gaps > 0) view["least_seconds"] = gaps.least_seconds;
  if (gaps.gaps > 0) view["promised_seconds"] = gaps.promised_seconds;
  return view;
}

}  // namespace orbweaver
