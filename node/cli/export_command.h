// `orbweaver export …`: what a crawl knows, for other programs. Reads stores that no peer has open. Thread rule: main
// thread.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "node/base.h"
#include "storage/record.h"

namespace orbweaver {

// Every URL record below `directory`, a peer's or a crawl's (its peers' stores joined: each URL comes once, with what
// is known of it anywhere), partition by partition in key order. `take` returns false to end early. Errors: in_use when
// a peer runs there, unreachable when none has, and what the stores say.
Result<void> for_each_record(const std::string& directory, const std::function<bool(const storage::UrlRecord&)>& take);

void add_export_commands(CLI::App& app, int& code);

}  // namespace orbweaver
