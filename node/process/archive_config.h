// How a worker writes its archive. Pure. Thread rule: free function.
#pragma once

#include <string>

#include "node/process/page_reader.h"
#include "storage/warc.h"

namespace orbweaver {

// `name_prefix`: unique in the ring.
storage::WarcConfig archive_config(const WorkersConfig& config, const std::string& name_prefix);

}  // namespace orbweaver
