// Edges as text: one "FROM<TAB>TO" a line, both URLs (http or https) or both whole numbers, the same throughout a file;
// spaces may stand for the tab. Empty lines and lines that begin with '#' are passed over (the edge lists of SNAP have
// such). Thread rule: free function.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

using TakeEdge = std::function<Result<void>(std::string_view from, std::string_view to)>;

// Errors name the file and the line. A file without an edge is one.
Result<void> read_edge_file(const std::string& path, const TakeEdge& take);

inline constexpr std::size_t edge_line_max = 128u << 10;  // bytes

}  // namespace orbweaver
