// How a crawl went at this peer, for charts: pages and bytes by intervals, and what was queued and had failed at the
// end of each. The last hour finely, the last two days coarsely. In memory only. Bounded. Pure. Thread rule: one owner
// (the peer's loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <nlohmann/json_fwd.hpp>

#include "node/base.h"

namespace orbweaver {

class History {
 public:
  struct Totals {
    std::uint64_t pages = 0, bytes = 0;    // since the start of the process
    std::uint64_t queued = 0, failed = 0;  // now
  };

  void note(Time now, const Totals& totals);
  // {"fine": …, "coarse": …}, each of them: "seconds", an interval's length; "from", when the first one began, in
  // seconds since 1970; "pages", "bytes", "queued", "failed": an array each, with an entry for each interval, null
  // where nothing was noted. Of each the newest `most` intervals.
  nlohmann::json answer(std::size_t most) const;

 private:
  struct Interval {
    std::int64_t number = 0;  // since 1970
    Totals totals;            // `pages`, `bytes`: in this interval
  };
  struct Series {
    std::int64_t seconds;
    std::size_t most;
    std::deque<Interval> intervals{};
    void note(std::int64_t now, const Totals& more);
    nlohmann::json answer(std::size_t limit) const;
  };

  Series fine_{10, 360};
  Series coarse_{300, 576};
  Totals last_;
};

}  // namespace orbweaver
