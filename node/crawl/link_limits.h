// Links that are kept, but never asked for: too deep, or behind too many redirects. Pure.
#pragma once

#include "node/base.h"
#include "node/settings/settings.h"
#include "storage/record.h"

namespace orbweaver {

// Redirects, and steps to what a page needs, that are followed from one URL.
std::uint32_t max_steps(const Settings& settings);
// Excludes a queued record that exceeds max_depth or, by its steps, max_steps(). `date`: since when it is excluded.
void limit_link(storage::UrlRecord& record, const Settings& settings, Time date);

}  // namespace orbweaver
