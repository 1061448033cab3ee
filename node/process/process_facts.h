// What the system says of this process: processor time, the room on its disk. Thread rule: the peer's loop.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "node/peer/peer_status.h"

namespace orbweaver {

// `directory`: the data directory.
ProcessUse process_use(const std::string& directory, Time now);
// An error (disk_full) when its disk has no room for what RocksDB writes to open: Debian's build aborts then.
Result<void> check_room_to_open(const std::string& directory);
// Adds the values of disk_*, *cpu_seconds_total, start_time_seconds and build_info (metrics.h).
void add_process_metrics(const ProcessUse& use, std::vector<std::pair<std::string, double>>& values);

}  // namespace orbweaver
