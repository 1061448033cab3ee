#include "node/cli/peer_directories.h"

#include <algorithm>
#include <filesystem>

namespace orbweaver {

Result<std::vector<std::string>> peer_directories(const std::string& directory) {
  std::vector<std::string> found;
  if (std::filesystem::exists(directory + "/store")) found.push_back(directory);
  std::error_code trouble;
  for (auto at = std::filesystem::directory_iterator(directory, trouble);
       !trouble && at != std::filesystem::directory_iterator(); at.increment(trouble))
    if (at->path().filename().string().starts_with("peer-") && std::filesystem::exists(at->path() / "store"))
      found.push_back(at->path().string());
  if (trouble) return fail(ErrorCode::invalid_input, "cannot read " + directory + ": " + trouble.message());
  if (found.empty())
    return fail(ErrorCode::unreachable,
                "no peer has run in " + directory + "; name the directory of a peer or of a crawl with --dir");
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace orbweaver
