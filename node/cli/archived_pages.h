// The pages in the archives below a directory given to a command, as they were served. Thread rule: main thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct ArchivedPage {
  std::string url, date;  // as WARC-Target-URI and WARC-Date
  int status = 0;
  std::string head;  // status line and header lines
  std::string body;  // decoded
};

// The archive's files of all peers' directories there, finished ones and those that are written now, in order. Errors:
// as peer_directories().
Result<std::vector<std::string>> archive_files(const std::string& directory);

// The responses of one file, one by one; at most so many bytes of each body. `take`: false ends it. A record that
// cannot be read is passed over, and counted. Errors: io.
struct PagesRead {
  std::uint64_t pages = 0, damaged = 0;
  bool gone = false;  // the file is not there any more
};
Result<PagesRead> for_each_archived_page(const std::string& file, std::size_t max_body_bytes,
                                         const std::function<bool(const ArchivedPage&)>& take);

}  // namespace orbweaver
