// The requests to the sample web, as the server saw them: the judge of politeness and of "nothing twice".
//
// Bounded: one record for each served host, one shared by all names that are not served, and at most max_urls URLs;
// further URLs are counted as urls_not_kept. Thread rule: any thread;
// one lock inside. `now` is passed in, from one monotonic clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace orbweaver::sample {

class SampleCounts {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  explicit SampleCounts(std::size_t max_urls) : max_urls_(max_urls) {}

  // A request has arrived; `host` is a served host's name (or the one name for all others). Returns how often this URL
  // was requested before.
  std::uint64_t arrived(const std::string& host, const std::string& url, bool is_robots, Instant now);
  // Its answer is about to be written. Call it before, not after: a client that sends its next request on reading this
  // answer is then never seen with two at once.
  void answered(const std::string& host);

  // {"total":…,"urls_not_kept":…,"hosts":{NAME:{"requests","robots_requests","smallest_gap_ms","most_at_once"}}}; a gap
  // is from arrival to arrival, null before the second request.
  std::string stats_json() const;
  std::string urls_json() const;  // {URL: count}
  void reset();

 private:
  struct Host {
    std::uint64_t requests = 0;
    std::uint64_t robots_requests = 0;
    std::uint64_t at_once = 0;
    std::uint64_t most_at_once = 0;
    Instant last{};
    std::optional<Instant::duration> smallest_gap;
  };

  const std::size_t max_urls_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Host> hosts_;
  std::unordered_map<std::string, std::uint64_t> urls_;
  std::uint64_t total_ = 0;
  std::uint64_t urls_not_kept_ = 0;  // requests for URLs beyond max_urls_
};

}  // namespace orbweaver::sample
