// Converts the settings for the fetcher.
#pragma once

#include "node/base.h"
#include "node/fetch/curl_fetcher.h"
#include "node/settings/settings.h"

namespace orbweaver {

// Sets all fields except the clock and record_requests. The error names the unreadable setting.
Result<CurlFetcherConfig> fetcher_config(const Settings& settings);

}  // namespace orbweaver
