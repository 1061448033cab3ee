// How many entries the tables have that a part of a peer keeps in memory, by name. Each of them has a bound that
// follows from settings, members and partitions; tests/sim/checkers/bounded.cc names it. For tests: the calls that
// return this walk over queues, so no step makes them. Thread rule: values.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace orbweaver::ring {

struct TableSize {
  std::string_view name;  // PART.TABLE
  std::size_t entries = 0;
};

using TableSizes = std::vector<TableSize>;

inline void append(TableSizes& sizes, const TableSizes& more) { sizes.insert(sizes.end(), more.begin(), more.end()); }

}  // namespace orbweaver::ring
