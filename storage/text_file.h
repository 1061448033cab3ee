// JSON Lines files that only grow: one line per append, a new file when one is large enough. A torn last line is cut
// off at open. Files: <directory>/<prefix>-<serial 5 digits>.jsonl; writing continues in the newest. Thread rule: one
// owner. Memory: none. On a crash at most the line being written is lost; lines reach the disk when the system writes
// them out, at close(), or when a holder of synced_file() syncs it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/append_file.h"
#include "storage/types.h"

namespace orbweaver::storage {

struct TextFileConfig {
  std::string directory;                  // made when it is not there
  std::string name_prefix;                // unique in the ring
  std::uint64_t file_bytes = 256u << 20;  // a file that reached this is closed and a new one begun
  OpenWaiter* waiter = nullptr;           // outlives the file; null: a lack of descriptors is an error
  bool sync_names = false;                // a new file's name is on the disk before the first line is written into it
};

class TextFile {
 public:
  // Fails with in_use when another process has the newest file open.
  static Result<TextFile> open(TextFileConfig config);
  // Adds the line and a line feed in one write; line ends inside it become spaces (JSON on one line contains none).
  // After a failure the file is unchanged.
  Result<void> append(std::string_view line);
  Result<void> close();
  const std::string& path() const { return file_.path(); }
  // The file of the last append. A file that was closed has been synced.
  std::shared_ptr<SyncedFile> synced_file() const { return file_.synced_file(); }

 private:
  explicit TextFile(TextFileConfig config) : config_(std::move(config)) {}
  std::string path_of(std::uint64_t serial) const;
  Result<void> begin_file();
  Result<void> cut_torn_line();

  TextFileConfig config_;
  std::uint64_t next_serial_ = 0;
  AppendFile file_;
  std::string scratch_;
};

}  // namespace orbweaver::storage
