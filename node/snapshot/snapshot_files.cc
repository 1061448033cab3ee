#include "node/snapshot/snapshot_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

#include "node/digest/sha256.h"

namespace orbweaver {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t read_bytes = 1u << 20;

Result<std::string> digest_of(const std::string& path, const std::atomic<bool>& stop) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (file == nullptr) return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(errno));
  Sha256 digest;
  std::vector<char> bytes(read_bytes);
  for (std::size_t got = 0; (got = std::fread(bytes.data(), 1, bytes.size(), file.get())) > 0;) {
    if (stop) return fail(ErrorCode::io, "the process ends");
    digest.add({bytes.data(), got});
  }
  if (std::ferror(file.get()) != 0) return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(errno));
  return digest.hex();
}

Result<std::vector<std::string>> names_below(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code trouble;
  for (auto at = fs::recursive_directory_iterator(directory, trouble);
       !trouble && at != fs::recursive_directory_iterator(); at.increment(trouble)) {
    std::error_code unknown;
    if (fs::is_regular_file(at->path(), unknown))
      names.push_back(at->path().lexically_relative(directory).generic_string());
  }
  if (trouble) return fail(ErrorCode::io, "cannot read " + directory + ": " + trouble.message());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<std::vector<SnapshotFile>> list_files(const std::string& directory, bool digests,
                                             const std::atomic<bool>& stop) {
  const auto names = names_below(directory);
  if (!names) return tl::make_unexpected(names.error());
  std::vector<SnapshotFile> files;
  for (const std::string& name : *names) {
    const std::string path = directory + "/" + name;
    std::error_code trouble;
    SnapshotFile file{.name = name, .bytes = fs::file_size(path, trouble)};
    if (trouble) return fail(ErrorCode::io, "cannot read " + path + ": " + trouble.message());
    if (digests) {
      Result<std::string> digest = digest_of(path, stop);
      if (!digest) return tl::make_unexpected(digest.error());
      file.sha256 = std::move(*digest);
    }
    files.push_back(std::move(file));
  }
  return files;
}

Result<void> check_files(const std::string& directory, const std::vector<SnapshotFile>& files) {
  const std::atomic<bool> never{false};
  std::set<std::string> listed;
  for (const SnapshotFile& file : files) {
    const std::string path = directory + "/" + file.name;
    listed.insert(file.name);
    std::error_code trouble;
    const std::uint64_t bytes = fs::file_size(path, trouble);
    if (trouble)
      return fail(ErrorCode::io, "cannot read " + path + ": " + trouble.message() +
                                     "; copy the checkpoint again, whole, or take another snapshot");
    if (bytes != file.bytes)
      return fail(ErrorCode::invalid_input, path + " has " + std::to_string(bytes) + " bytes, the manifest says " +
                                                std::to_string(file.bytes) +
                                                "; copy the checkpoint again, or take another snapshot");
    const Result<std::string> digest = digest_of(path, never);
    if (!digest) return tl::make_unexpected(digest.error());
    if (*digest != file.sha256)
      return fail(ErrorCode::invalid_input, path +
                                                " is not as it was: its digest differs from the manifest's; copy the "
                                                "checkpoint again, or take another snapshot");
  }
  const auto names = names_below(directory);
  if (!names) return tl::make_unexpected(names.error());
  for (const std::string& name : *names)
    if (!listed.contains(name))
      return fail(ErrorCode::invalid_input, directory + "/" + name +
                                                " is not in the manifest: a peer was started there, or the manifest is "
                                                "of another snapshot; copy the checkpoint again");
  return {};
}

}  // namespace orbweaver
