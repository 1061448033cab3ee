#include "node/scheduling/job_table.h"

#include <algorithm>
#include <utility>

#include "node/url/registrable_domain.h"

namespace orbweaver {

JobTable::JobTable(const Settings& settings, Workbench& bench)
    : settings_(&settings),
      bench_(&bench),
      shares_(TransferShares::limits(settings.max_fetches, settings.max_fetches_per_domain,
                                     settings.max_fetches_per_network)) {}

Job& JobTable::add(Time now, FetchJob fetch) {
  fetch.id = next_id_++;
  const std::uint64_t id = fetch.id;
  const bool to_read = std::holds_alternative<RobotsParse>(fetch.what);
  to_read_ += to_read ? 1 : 0;
  return jobs_.emplace(id, Job{.fetch = std::move(fetch), .started = now, .verdict = {}, .to_read = to_read})
      .first->second;
}

Job* JobTable::find(std::uint64_t id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

void JobTable::received(Job& job, Time ended) {
  job.ended = ended;
  to_read_ += job.to_read ? 0 : 1;
  job.to_read = true;
}

Job JobTable::take(std::uint64_t id) {
  const auto found = jobs_.find(id);
  to_read_ -= found->second.to_read ? 1 : 0;
  Job job = std::move(found->second);
  jobs_.erase(found);
  shares_.end(id);
  return job;
}

void JobTable::for_each(const std::function<void(const Job&)>& use) const {
  for (const auto& [id, job] : jobs_) use(job);
}

TransferShares::Place JobTable::place_of(BenchHost& host) {
  if (host.domain.empty()) host.domain = registrable_domain(host.name);
  return {.domain = host.elsewhere.empty() ? host.domain : registrable_domain(host.elsewhere),
          .network = network_of(host.address)};
}

void JobTable::hold_back(BenchHost& host) {
  const storage::HostKey key = host.key;
  const TransferShares::Place place = place_of(host);
  if (bench_->park(host)) shares_.wait(key, place);
}

void JobTable::resume_waiting() {
  if (const auto host = shares_.next_waiting()) bench_->unpark(*host);
}

}  // namespace orbweaver
