// A file that one thread writes and another may bring to the disk. Pure: the files are storage/append_file.h's, or a
// test's.
#pragma once

#include "storage/types.h"

namespace orbweaver::storage {

// Thread rule: any thread; it blocks the calling one (milliseconds).
class SyncedFile {
 public:
  virtual ~SyncedFile() = default;
  // Afterwards all that was written before the call is on the disk. Once it has failed it fails forever: the system
  // reports a lost write once only, and what follows it may be on the disk without it. The error names the file.
  virtual Result<void> sync() = 0;
};

}  // namespace orbweaver::storage
