// Edges as text: one "FROM<TAB>TO" per line, both URLs (http or https) or both whole numbers, the same throughout a
// file; spaces may replace the tab. Empty lines and lines that begin with '#' are skipped (SNAP's edge lists have
// them). Thread rule: free function.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

using TakeEdge = std::function<Result<void>(std::string_view from, std::string_view to)>;

// Errors name the file and the line. A file without an edge is an error.
Result<void> read_edge_file(const std::string& path, const TakeEdge& take);

inline constexpr std::size_t max_edge_line = 128u << 10;  // bytes

}  // namespace orbweaver
