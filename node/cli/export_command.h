// `orbweaver export …`: a crawl's data for other programs. Reads stores that no peer has open. Thread rule: main
// thread.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "node/base.h"
#include "storage/record.h"

namespace orbweaver {

// All URL records below `directory`, which is a peer's or a crawl's. The stores of a crawl's peers are merged: each URL
// comes once, with all that any peer knows of it. Order: by partition, then by key. `take` returns false to end early.
// Errors: in_use when a peer runs there, unreachable when no peer has, and errors of the stores.
Result<void> for_each_record(const std::string& directory, const std::function<bool(const storage::UrlRecord&)>& take);

void add_export_commands(CLI::App& app, int& code);

}  // namespace orbweaver
