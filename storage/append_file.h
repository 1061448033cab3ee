// A file that grows by whole pieces: each append is one write(2) (more only when the system takes less). After a
// failure the file is cut back to its last whole piece. It is locked with flock while open, so that another process
// sees that it is in use. Thread rule: one owner; others may bring it to the disk (synced_file()).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "storage/open_waiter.h"
#include "storage/synced_file.h"
#include "storage/types.h"

namespace orbweaver::storage {

class AppendFile {
 public:
  // Makes a file, which must not exist yet (O_EXCL). A `waiter` waits out a lack of descriptors, here and below.
  static Result<AppendFile> create(const std::string& path, OpenWaiter* waiter = nullptr);
  // Opens an existing file; fails with in_use when another process has its lock.
  static Result<AppendFile> open_existing(const std::string& path, OpenWaiter* waiter = nullptr);
  AppendFile() = default;
  AppendFile(AppendFile&& other) noexcept = default;
  AppendFile& operator=(AppendFile&& other) noexcept = default;

  bool is_open() const { return open_ != nullptr; }
  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  Result<void> append(std::string_view bytes);
  Result<void> cut(std::uint64_t size);                  // truncates to `size`
  Result<void> sync() { return synced_file()->sync(); }  // contents and length, to the disk
  Result<std::uint64_t> read_at(std::uint64_t offset, char* to, std::uint64_t count) const;  // bytes read; 0 at the end
  // For other threads. While one holds it, the file stays open and locked.
  std::shared_ptr<SyncedFile> synced_file() const;
  void close() { open_.reset(); }

 private:
  class Open;

  std::string path_;
  std::shared_ptr<Open> open_;  // null: closed
  std::uint64_t size_ = 0;
  bool torn_ = false;  // a failed append could not be cut back yet
};

// "what path: cause" of errno; disk_full for ENOSPC and EDQUOT.
tl::unexpected<Error> io_error(const std::string& what, const std::string& path, int error_number);
// The same of a sync, with what to do.
tl::unexpected<Error> sync_error(const std::string& path, int error_number);
// Renames, and syncs the directory so that the name survives a power cut. Never replaces a file. If the sync fails, a
// power cut may bring the old name back.
Result<void> rename_durably(const std::string& from, const std::string& to, OpenWaiter* waiter = nullptr);

}  // namespace orbweaver::storage
