// The settings as the fetcher takes them.
#pragma once

#include "node/base.h"
#include "node/fetch/curl_fetcher.h"
#include "node/settings/settings.h"

namespace orbweaver {

// All but the clock and record_requests. The error names the setting that cannot be read.
Result<CurlFetcherConfig> fetcher_config(const Settings& settings);

}  // namespace orbweaver
