// What a peer counts, as one table, and its Prometheus text. The only file that uses prometheus-cpp.
// Pure; thread rule: free functions and a constant table.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/base.h"
#include "ring/zmq_transport.h"

namespace orbweaver {

enum class MetricType : std::uint8_t {
  counter,  // only grows while the process runs; its name ends in _total
  gauge,    // a level
};

struct MetricRow {
  std::string_view name;  // without the prefix "orbweaver_"
  std::string_view help;
  MetricType type;
  std::string_view label = "share";  // name of the label, if its values have one: the part of their name after '/'
};

const std::vector<MetricRow>& metric_rows();

// Prometheus text format 0.0.4, in the table's order, names prefixed "orbweaver_". `values`: row name and value. A row
// without a value is left out, and so is a value without a row (tests check that callers follow the table). If a name
// is given twice, the last value counts.
std::string metrics_text(const std::vector<std::pair<std::string, double>>& values);

// Adds the transport's part of the values.
void add_transport(const ring::TransportStats& stats, std::vector<std::pair<std::string, double>>& values);

// docs/reference/metrics.md, from the table.
std::string metrics_markdown();

}  // namespace orbweaver
