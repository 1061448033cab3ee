#include "node/process/open_files.h"

#include <span>
#include <vector>

#include "node/process/log.h"
#include "node/system/descriptor_limit.h"

namespace orbweaver {
namespace {

// Longer than any flood of connections that the limits allow; a shortage that lasts longer is a misconfiguration.
constexpr std::chrono::minutes patience{10};

}  // namespace

Result<DescriptorPlan> plan_open_files(const Settings& settings) {
  const DescriptorPlan plan = plan_descriptors(settings, raise_open_files(settings.max_open_files));
  if (plan.limit < open_files_least)
    return fail(ErrorCode::invalid_setting,
                "this process may have " + std::to_string(plan.limit) + " files open, a peer needs " +
                    std::to_string(open_files_least) +
                    " or more: raise the limit (ulimit -Hn, LimitNOFILE=), or max_open_files where it is set lower");
  std::vector<LogField> fields = {{"limit", plan.limit}};
  for (const auto& [name, descriptors] : plan.shares()) fields.emplace_back(name, descriptors);
  const DescriptorPlan whole;
  const bool shrunk = plan.max_fetches < settings.max_fetches || plan.kept_connections < whole.kept_connections ||
                      plan.store_files < whole.store_files ||
                      plan.unknown_connections < settings.max_unknown_connections;
  if (shrunk)
    fields.emplace_back("fix", "raise the limit of open files (ulimit -Hn, LimitNOFILE=), or lower max_fetches");
  const std::span<const LogField> view(fields);
  if (!plan.fits) {
    log(LogLevel::warning, "node", "too few file descriptors even for the minimum", view);
  } else {
    log(shrunk ? LogLevel::warning : LogLevel::info, "node",
        shrunk ? "too few file descriptors, shares made smaller" : "file descriptors", view);
  }
  return plan;
}

std::unique_ptr<storage::OpenWaiter> make_open_waiter(std::function<InFlight*()> in_flight) {
  const auto tell = [](const std::string& path) {
    log_limited(LogLevel::warning, "storage", "no file descriptor is free, waiting for one", {{"file", path}});
  };
  return std::make_unique<storage::OpenWaiter>(
      patience, tell, [in_flight = std::move(in_flight)] { return std::make_shared<InFlightPause>(in_flight()); });
}

}  // namespace orbweaver
