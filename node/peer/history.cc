#include "node/peer/history.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace orbweaver {

using nlohmann::json;

void History::note(Time now, const Totals& totals) {
  Totals more = totals;
  more.pages -= std::min(last_.pages, totals.pages);
  more.bytes -= std::min(last_.bytes, totals.bytes);
  last_ = totals;
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  fine_.note(seconds, more);
  coarse_.note(seconds, more);
}

// A clock that was set back goes on in the last interval.
void History::Series::note(std::int64_t now, const Totals& more) {
  const std::int64_t number = now / seconds;
  if (intervals.empty() || number > intervals.back().number) intervals.push_back({number, {}});
  if (intervals.size() > most) intervals.pop_front();
  Totals& into = intervals.back().totals;
  into.pages += more.pages;
  into.bytes += more.bytes;
  into.queued = more.queued;
  into.failed = more.failed;
}

json History::Series::answer(std::size_t limit) const {
  json pages = json::array(), bytes = json::array(), queued = json::array(), failed = json::array();
  const auto wanted = static_cast<std::int64_t>(std::min(limit, most));
  const std::int64_t last = intervals.empty() ? 0 : intervals.back().number;
  const std::int64_t first = intervals.empty() ? 1 : std::max(intervals.front().number, last - wanted + 1);
  auto at = intervals.begin();
  for (std::int64_t number = first; number <= last; ++number) {
    while (at->number < number) ++at;
    const bool known = at->number == number;
    pages.push_back(known ? json(at->totals.pages) : json());
    bytes.push_back(known ? json(at->totals.bytes) : json());
    queued.push_back(known ? json(at->totals.queued) : json());
    failed.push_back(known ? json(at->totals.failed) : json());
  }
  return {{"seconds", seconds},        {"from", first * seconds},     {"pages", std::move(pages)},
          {"bytes", std::move(bytes)}, {"queued", std::move(queued)}, {"failed", std::move(failed)}};
}

json History::answer(std::size_t most) const {
  return {{"fine", fine_.answer(most)}, {"coarse", coarse_.answer(most)}};
}

}  // namespace orbweaver
