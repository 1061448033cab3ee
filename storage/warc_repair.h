// Cutting torn tails off WARC files that a writer left open.
#pragma once

#include "storage/append_file.h"
#include "storage/warc.h"

namespace orbweaver::storage {

struct OpenWarcRepair {
  WarcRepair done;
  std::uint64_t captures = 0;  // whole records kept that are not warcinfo
};
// The same as repair_warc, on a file that is already open and locked.
Result<OpenWarcRepair> repair_open_warc(AppendFile& file);

}  // namespace orbweaver::storage
