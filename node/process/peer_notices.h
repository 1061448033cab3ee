// What a peer's notifier needs of its process. Thread rule: free function.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "node/notify/notifier.h"

namespace orbweaver {

// As Notifier::start(), with a line in the log for what is not taken.
Result<std::unique_ptr<Notifier>> start_notifier(const Settings& settings, const std::string& directory,
                                                 std::function<Time()> clock, std::function<NoticeSource()> source,
                                                 std::function<nlohmann::json()> own_status);
// Before the peer's process ends; `notifier`: null when nobody is told.
void end_notices(Notifier* notifier);

}  // namespace orbweaver
