// What the system says of this process, for its metrics: processor time, its start, the room on its disk. Thread rule:
// any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace orbweaver {

// Adds the values of disk_*, cpu_seconds_total, start_time_seconds and build_info (metrics.h). `directory`: the data
// directory. What the system does not say is left out.
void add_process_facts(const std::string& directory, std::vector<std::pair<std::string, double>>& values);

}  // namespace orbweaver
