#include "node/sampleweb/sample_counts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace orbweaver::sample {

namespace {

// Text from clients need not be UTF-8.
std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::uint64_t SampleCounts::arrived(const std::string& host, const std::string& url, bool is_robots, Instant now) {
  const std::lock_guard lock(mutex_);
  ++total_;
  Host& record = hosts_[host];
  if (record.requests > 0) {
    const auto gap = std::max(now - record.last, Instant::duration::zero());
    record.smallest_gap = record.smallest_gap ? std::min(*record.smallest_gap, gap) : gap;
  }
  record.last = now;
  ++record.requests;
  if (is_robots) ++record.robots_requests;
  record.most_at_once = std::max(record.most_at_once, ++record.at_once);

  if (const auto known = urls_.find(url); known != urls_.end()) return known->second++;
  if (urls_.size() < max_urls_) {
    urls_.emplace(url, 1);
  } else {
    ++urls_not_kept_;
  }
  return 0;
}

void SampleCounts::answered(const std::string& host) {
  const std::lock_guard lock(mutex_);
  // A reset() in between leaves nothing to count down.
  if (const auto found = hosts_.find(host); found != hosts_.end() && found->second.at_once > 0) --found->second.at_once;
}

std::string SampleCounts::stats_json() const {
  const std::lock_guard lock(mutex_);
  nlohmann::json hosts = nlohmann::json::object();
  for (const auto& [name, host] : hosts_) {
    nlohmann::json gap;
    if (host.smallest_gap) gap = std::chrono::duration<double, std::milli>(*host.smallest_gap).count();
    hosts[name] = {{"requests", host.requests},
                   {"robots_requests", host.robots_requests},
                   {"smallest_gap_ms", gap},
                   {"most_at_once", host.most_at_once}};
  }
  return dump({{"total", total_}, {"urls_not_kept", urls_not_kept_}, {"hosts", hosts}});
}

std::string SampleCounts::urls_json() const {
  const std::lock_guard lock(mutex_);
  nlohmann::json urls = nlohmann::json::object();
  for (const auto& [url, count] : urls_) urls[url] = count;
  return dump(urls);
}

void SampleCounts::reset() {
  const std::lock_guard lock(mutex_);
  hosts_.clear();
  urls_.clear();
  total_ = 0;
  urls_not_kept_ = 0;
}

}  // namespace orbweaver::sample
