// `orbweaver lab partition`: the cost of partitioning by host, domain or URL, on recorded links, and a comparison of
// ways to assign keys to peers (docs/inside/lab-partition.md). Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/lab/link_stream.h"
#include "node/lab/report.h"

namespace orbweaver {

inline constexpr std::uint32_t max_lab_peers = 1024;

struct PartitionLabOptions {
  std::vector<std::string> traces;
  std::vector<std::uint32_t> peers = {2, 4, 8, 16, 32, 64};
  std::uint32_t repeats = 10;  // rings with other identities, for the comparison of assigners: balance is their mean
  StreamLimits limits;
};

Result<Report> run_partition_lab(const PartitionLabOptions& options);

}  // namespace orbweaver
