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

// Raises the limit, plans its shares, and tells the log of them; a limit that is too small for the settings is a
// warning with what was made smaller.
// Error (invalid_setting): fewer than open_files_least, with which a peer could do nothing.
Result<DescriptorPlan> plan_open_files(const Settings& settings);

// Of a peer's files: waits are told to the log. What waits does not count as at work in `in_flight()`, where that is
// not null.
std::unique_ptr<storage::OpenWaiter> make_open_waiter(std::function<InFlight*()> in_flight);

}  // namespace orbweaver
