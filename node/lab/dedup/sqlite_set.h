// A relational database with an index: one table of URLs with a unique index over their text, in SQLite, which only
// sqlite_set.cc uses. A check is one SELECT and, for a new URL, one INSERT, each its own transaction, as in the
// literature's crawlers. Write-ahead log, synchronous = NORMAL, no fsync per check: it survives the death of the
// process, as the crawler's own store does. Thread rule: one thread.
#pragma once

#include <memory>
#include <string>

#include "node/lab/dedup/url_set.h"

namespace orbweaver {

// In DIRECTORY/urls.sqlite. io: it is not a database, or the disk refuses.
Result<std::unique_ptr<UrlSet>> open_sqlite_set(const std::string& directory);

}  // namespace orbweaver
