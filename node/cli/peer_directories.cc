#include "node/cli/peer_directories.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "node/system/denied.h"

namespace orbweaver {

Result<std::vector<std::string>> possible_peer_directories(const std::string& directory) {
  std::vector<std::string> below;
  std::error_code trouble;
  for (auto at = std::filesystem::directory_iterator(directory, trouble);
       !trouble && at != std::filesystem::directory_iterator(); at.increment(trouble))
    if (at->path().filename().string().starts_with("peer-")) below.push_back(at->path().string());
  if (trouble && trouble.value() != ENOENT && trouble.value() != ENOTDIR)
    return cannot_read(directory, trouble.value());
  std::sort(below.begin(), below.end());
  below.insert(below.begin(), directory);
  return below;
}

Result<std::vector<std::string>> peer_directories(const std::string& directory) {
  const auto possible = possible_peer_directories(directory);
  if (!possible) return tl::make_unexpected(possible.error());
  std::vector<std::string> found;
  for (const std::string& peer : *possible) {
    const Result<bool> store = is_there(peer + "/store");
    if (!store) return tl::make_unexpected(store.error());
    if (*store) found.push_back(peer);
  }
  if (!found.empty()) return found;
  const Result<bool> there = is_there(directory);
  if (there && !*there)
    return fail(ErrorCode::invalid_input, "cannot read " + directory + ": there is no such directory");
  return fail(ErrorCode::unreachable,
              "no peer has run in " + directory + "; name the directory of a peer or of a crawl with --dir");
}

}  // namespace orbweaver
