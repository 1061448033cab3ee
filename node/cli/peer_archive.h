// The archive of one peer's directory, and whose it is. Thread rule: main thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct PeerArchive {
  std::string id;
  std::set<std::string, std::less<>> seeds;  // canonical URLs
  std::vector<std::string> files;            // as archive_files()
};

// From the store, which a running peer may have open. Errors: unreachable when no peer has run there; those of the
// store and of archive_files().
Result<PeerArchive> peer_archive(const std::string& directory);

// "orbweaver-01234567.wacz": unique in a ring.
std::string package_name(const PeerArchive& archive);

}  // namespace orbweaver
