// The question "hosts": the hosts in this peer's memory, when each may be asked again and why not now. Lifetime: the
// peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "node/crawl/site_policy.h"
#include "node/frontier/workbench.h"

namespace orbweaver {

class HostReport {
 public:
  static constexpr std::size_t max_hosts = 500;

  // Both outlive it.
  HostReport(const Workbench& bench, const SitePolicy& sites) : bench_(bench), sites_(sites) {}

  // {"limit": n}, 100 unless given. `room`: bytes of the answer, about. Answers "hosts", those that need longest first:
  // host, queued (in memory; "more": on disk too), delay_us (between two requests) and delay_why, next_us (from now on;
  // 0: it may be asked), state (one word), why (it is not asked now, in words), failures (in a row), address. And
  // "hosts_in_memory".
  nlohmann::json answer(Time now, const nlohmann::json& question, std::size_t room) const;

 private:
  nlohmann::json entry(Time now, const BenchHost& host) const;

  const Workbench& bench_;
  const SitePolicy& sites_;
};

}  // namespace orbweaver
