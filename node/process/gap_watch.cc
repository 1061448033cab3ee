#include "node/process/gap_watch.h"

#include <algorithm>
#include <utility>

#include "node/process/log.h"

namespace orbweaver {

// What was known of the host; from now on this exchange is.
std::optional<GapWatch::Last> GapWatch::swap(const Exchange& exchange) {
  const std::string host(exchange.host);
  std::optional<Last> before;
  for (Hosts* const hosts : {&young_, &old_})
    if (const auto found = hosts->find(host); found != hosts->end()) {
      before = found->second;
      hosts->erase(found);
      break;
    }
  if (young_.size() >= max_hosts / 2) old_ = std::exchange(young_, {});
  young_.emplace(host, Last{exchange.ended, exchange.promised});
  return before;
}

std::optional<Duration> GapWatch::note(const Exchange& exchange) {
  const std::lock_guard guard(mutex_);
  const std::optional<Last> before = swap(exchange);
  if (!before) return std::nullopt;
  const Duration promised = std::min(before->promised, exchange.promised);
  if (promised <= Duration{}) return std::nullopt;
  const Duration gap = exchange.started - before->ended;
  ++seen_.gaps;
  // By their ratio, without a division.
  if (seen_.gaps == 1 || static_cast<double>(gap.count()) * static_cast<double>(seen_.promised.count()) <
                             static_cast<double>(seen_.least.count()) * static_cast<double>(promised.count())) {
    seen_.least = gap;
    seen_.promised = promised;
  }
  if (gap >= promised) return std::nullopt;
  ++seen_.too_short;
  return gap;
}

GapsSeen GapWatch::seen() const {
  const std::lock_guard guard(mutex_);
  return seen_;
}

void judge_gap(GapWatch& gaps, const FetchJob& job, const FetchResponse& response) {
  const auto gap = gaps.note({job.url.host(), response.started, response.ended, job.delay});
  if (!gap) return;
  log_limited(LogLevel::error, "fetch", "a host was asked too early",
              {{"host", job.url.host()},
               {"gap_us", std::to_string(gap->count())},
               {"promised_us", std::to_string(job.delay.count())},
               {"fix", "report it as a bug"}});
}

}  // namespace orbweaver
