// The account of a crawl at its end: as text for its user, and in its directory as summary.json and summary.html, a
// page of one file that needs nothing else. Thread rule: main thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "node/base.h"
#include "node/settings/settings.h"

namespace orbweaver {

// `summary` has: finished, reason, pages, failed, excluded, queued, seconds, reasons, totals, peers, archive_dirs, out.
std::string summary_text(const nlohmann::json& summary);
std::string summary_html(const nlohmann::json& summary);

// Writes both files. Errors: io, disk_full.
Result<void> write_summary(const std::string& directory, const nlohmann::json& summary, Durability durability);

// Why the crawl in this directory stopped, in the words of its summary or of its peers; empty: not known.
std::string why_it_stopped(const std::string& directory);

}  // namespace orbweaver
