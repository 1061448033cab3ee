// The URLs that a crawl knows, as a report needs them: one at a time, from the peers of a running ring or from the
// directories of a stopped one. Thread rule: main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/cli/ask.h"
#include "node/cli/ring_reader.h"
#include "node/crawl/record_filter.h"

namespace orbweaver {

// Whether a peer runs there, or is named: else its directory can be read.
Result<bool> any_runs(const PeerTarget& target);

// Calls `take` with each URL that the filter takes (node/peer/url_report.h, url_entry), until it says false. `progress`
// is called now and then with the records looked at. In a running ring a URL whose partition changes hands meanwhile
// may come twice, or not at all. Errors: as ask_peer() and for_each_record().
Result<UrlsRead> for_each_url(const PeerTarget& target, const RecordFilter& filter,
                              const std::function<bool(const nlohmann::json& url)>& take,
                              const std::function<void(std::uint64_t looked_at)>& progress);

}  // namespace orbweaver
