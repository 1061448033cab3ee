// Whether hosts are left alone as long as they were promised: the wait between the end of one exchange with a host and
// the beginning of the next, as the fetcher timed both. It knows nothing of how turns are given, so it can judge them.
// Bounded: the last `max_hosts` hosts that were asked; of a host that drops out the next gap is not seen. Thread rule:
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "node/base.h"
#include "node/crawl/events.h"
#include "node/fetch/fetcher.h"
#include "node/peer/peer_status.h"

namespace orbweaver {

class GapWatch {
 public:
  static constexpr std::size_t max_hosts = 50'000;

  struct Exchange {
    std::string_view host;
    Time started{};
    Time ended{};
    Duration promised{};  // before it
  };
  // In the order in which exchanges with one host ended. Returns the gap before this one if it was too short. What was
  // promised may have changed between two exchanges: the shorter counts.
  std::optional<Duration> note(const Exchange& exchange);
  GapsSeen seen() const;

 private:
  struct Last {
    Time ended{};
    Duration promised{};
  };
  using Hosts = std::unordered_map<std::string, Last>;
  std::optional<Last> swap(const Exchange& exchange);

  mutable std::mutex mutex_;  // of what follows
  Hosts young_, old_;         // a host moves to `young_` when it is asked; `old_` goes when that is full
  GapsSeen seen_;
};

// Notes the exchange; logs a gap that was too short.
void judge_gap(GapWatch& gaps, const FetchJob& job, const FetchResponse& response);

}  // namespace orbweaver
