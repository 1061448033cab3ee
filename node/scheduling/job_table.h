// Fetches in flight, and robots.txt files that workers parse; and the shares of transfers that they take
// (transfer_shares.h). Bounded by Settings::max_fetches. Lifetime: the peer's. Thread rule: one owner (the peer's
// loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "node/frontier/fetch_verdict.h"
#include "node/frontier/transfer_shares.h"
#include "node/frontier/workbench.h"
#include "node/links/link_follower.h"

namespace orbweaver {

struct Job {
  FetchJob fetch;
  Time started{};
  int status = 0;
  FetchVerdict verdict;
  Time ended{};
  bool to_read = false;  // the exchange has ended, or there is none: what is left is work on what was received
  FetchError tls_fault = FetchError::none;
  std::uint64_t bytes = 0;  // of the response as received
  // A page with many links, which are committed in pieces.
  std::unique_ptr<PageDone> page = nullptr;
  LinkFollower::Progress links = {};
  Dependents::Id dependent = 0;  // of such a page: what its pieces wait for, its outcome waits for
};

class JobTable {
 public:
  // Both outlive it.
  JobTable(const Settings& settings, Workbench& bench);

  bool empty() const { return jobs_.empty(); }
  std::size_t size() const { return jobs_.size(); }
  bool full() const { return jobs_.size() >= settings_->max_fetches; }
  // Gives the job its id.
  Job& add(Time now, FetchJob fetch);
  // Null: there is no such job, or no longer.
  Job* find(std::uint64_t id);
  // Its exchange has ended.
  void received(Job& job, Time ended);
  // The job has ended, and its transfer with it.
  Job take(std::uint64_t id);
  std::size_t to_read() const { return to_read_; }  // jobs of which something was received and is not read yet
  void for_each(const std::function<void(const Job&)>& use) const;

  // Whether another transfer from the host may begin.
  bool may_begin(BenchHost& host) const { return shares_.may_begin(place_of(host)); }
  void begin_transfer(std::uint64_t id, BenchHost& host) { shares_.begin(id, place_of(host)); }
  // The job continues without one: what remains is work on what was received.
  void end_transfer(std::uint64_t id) { shares_.end(id); }
  // An acquired host that may not begin waits in line.
  void hold_back(BenchHost& host);
  // Lets the first in line that may begin by now continue.
  void resume_waiting();
  bool any_may_resume() const { return shares_.any_may_go(); }
  const TransferShares& shares() const { return shares_; }

 private:
  static TransferShares::Place place_of(BenchHost& host);

  const Settings* settings_;
  Workbench* bench_;
  std::unordered_map<std::uint64_t, Job> jobs_;
  TransferShares shares_;  // of these jobs
  std::uint64_t next_id_ = 1;
  std::size_t to_read_ = 0;
};

}  // namespace orbweaver
