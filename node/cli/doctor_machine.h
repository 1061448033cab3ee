// What `orbweaver doctor` looks at on this machine: its memory, descriptors, clock and name servers, and the
// directories of the crawl. Reads only. Thread rule: main thread.
#pragma once

#include <string>
#include <vector>

#include "node/cli/doctor_findings.h"
#include "node/settings/settings.h"

namespace orbweaver {

// `max_memory`: what the peers here may use together; 0: unknown.
void look_at_machine(std::uint64_t max_memory, Findings& findings);
// The peers' directories: room on their disks, who may read them, the newest archive.
void look_at_directories(const std::vector<std::string>& directories, Findings& findings);
// Whether the name servers answer, and admit that a name does not exist.
void look_at_names(const Settings& settings, Findings& findings);

}  // namespace orbweaver
