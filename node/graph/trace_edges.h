// Edges of a link trace (storage/link_trace.h), as a crawl records them with --record-links: one from each page to each
// of its links, a redirect to its target too; requisites (images, styles) are left out. Thread rule: free function.
#pragma once

#include <string>

#include "node/base.h"
#include "node/graph/edge_file.h"

namespace orbweaver {

// The file of a trace, or a directory, which is searched recursively for traces.
bool is_trace(const std::string& path);
// Errors name the file and the place in it. A trace without a link is an error.
Result<void> read_trace_edges(const std::string& path, const TakeEdge& take);

}  // namespace orbweaver
