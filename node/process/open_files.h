// What a peer does with the process's limit of open files (node/system/descriptor_limit.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "node/base.h"
#include "node/process/in_flight.h"
#include "node/settings/descriptor_plan.h"
#include "storage/open_waiter.h"

namespace orbweaver {

// Raises the limit, plans its shares and logs them. If the limit is too small for the settings, it logs a warning that
// shows the smaller shares.
// Error (invalid_setting): the limit is below open_files_least, and a peer cannot work with fewer.
Result<DescriptorPlan> plan_open_files(const Settings& settings);

// For a peer's files: it logs waits. A page whose thread waits does not count as at work in `in_flight()`, if that is
// not null.
std::unique_ptr<storage::OpenWaiter> make_open_waiter(std::function<InFlight*()> in_flight);

}  // namespace orbweaver
