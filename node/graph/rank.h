// PageRank (Brin, Page 1998; Langville, Meyer: "Deeper Inside PageRank", 2004) and HITS (Kleinberg: "Authoritative
// Sources in a Hyperlinked Environment", 1999) of a link graph, by power iteration until two vectors in a row differ by
// less than the tolerance in the sum of absolute differences. Each edge counts once, a page's link to itself too.
//
//   PageRank  sums to 1. The rank of a node without links goes to all nodes equally, as does the `1 - damping` part.
//   HITS      authorities and hubs, each summing to 1. Where several sets of pages share the greatest singular value
//             the result is the one that a uniform start leads to.
//
// Memory: LinkGraph's bound; vectors are on disk. Thread rule: free functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/graph/link_graph.h"

namespace orbweaver {

struct RankOptions {
  double damping = 0.85;
  double tolerance = 1e-9;
  std::uint32_t max_iterations = 1000;
};

struct RankSummary {
  std::uint32_t iterations = 0;
  double change = 0;           // of the last iteration
  std::uint32_t dangling = 0;  // nodes without a link
};

// Writes one double per node into graph.file("rank"). Fails when the tolerance is not reached in time.
Result<RankSummary> page_rank(const LinkGraph& graph, const RankOptions& options);
// Writes graph.file("authority") and graph.file("hub"); needs a graph with its reverse. Ignores `damping`.
Result<RankSummary> hits(const LinkGraph& graph, const RankOptions& options);

// The nodes by the scores in `file`, highest first, equal ones by name; `second`: another such file, or empty.
using TakeRank = std::function<Result<void>(std::string_view name, double score, double second)>;
Result<void> each_by_rank(const LinkGraph& graph, const std::string& file, const std::string& second, std::uint64_t top,
                          const TakeRank& take);

}  // namespace orbweaver
