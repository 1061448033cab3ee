// A path on the disk for each URL: the 32 hex digits of its MD5 as 32 nested directories. Exact except for digests that
// collide. It survives a restart, and takes an inode and usually a block per directory: the first few levels are
// shared, about 28 of the 32 belong to one URL. Thread rule: one thread.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "node/lab/dedup/disk_use.h"
#include "node/lab/dedup/url_set.h"
#include "ring/md5.h"

namespace orbweaver {

class DirectorySet final : public UrlSet {
 public:
  // `directory` must exist.
  DirectorySet(std::string directory, std::uint64_t max_directories)
      : directory_(std::move(directory)), max_directories_(max_directories) {}

  Result<bool> seen(std::string_view url) override {
    std::string path = directory_;
    for (const char digit : ring::to_hex(ring::md5(url))) {
      path += '/';
      path += digit;
    }
    if (::access(path.c_str(), F_OK) == 0) return true;
    if (errno != ENOENT) return tl::make_unexpected(disk_error("cannot look at", path));
    for (std::size_t level = 0; level < 32; ++level) {
      const std::string part = path.substr(0, directory_.size() + 2 * (level + 1));
      if (::mkdir(part.c_str(), 0755) == 0) {
        ++made_;
      } else if (errno != EEXIST) {
        return tl::make_unexpected(disk_error("cannot make", part));
      }
    }
    return false;
  }
  std::uint64_t memory_bytes() const override { return 0; }
  std::string had_enough() const override {
    return made_ < max_directories_ ? "" : "its bound of " + std::to_string(max_directories_) + " directories";
  }
  Result<std::uint64_t> disk_bytes() const override {
    const Result<DiskUse> use = disk_use(directory_);
    if (!use) return tl::make_unexpected(use.error());
    return use->bytes;
  }

 private:
  std::string directory_;
  std::uint64_t max_directories_;
  std::uint64_t made_ = 0;
};

}  // namespace orbweaver
