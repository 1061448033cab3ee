// A ZIP file that is written from front to back, by libarchive: entries stored or deflated, ZIP64 where sizes need it.
// SHA-256 of each entry and of the whole file are taken on the way. It may also be only a view, with the bytes of
// stored entries where they are. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "node/archive/byte_view.h"
#include "node/base.h"

namespace orbweaver::archive {

struct Hashed {
  std::uint64_t bytes = 0;
  std::string sha256;  // 64 hexadecimal digits
};

// Errors: io.
Result<Hashed> hash_of_file(const std::string& path);

class ZipFile {
 public:
  // Writes PATH.part; close() gives it its name. An unfinished one is deleted with the object. `time`: of all entries.
  static Result<std::unique_ptr<ZipFile>> create(const std::string& path, Time time);
  // Bytes go to `view`, which outlives this object: those of add_file() as places in their file, all others in a new
  // file `path`, which has no name any more when this returns.
  static Result<std::unique_ptr<ZipFile>> create_view(const std::string& path, Time time, ByteView& view);
  ~ZipFile();
  ZipFile(const ZipFile&) = delete;

  // One entry: begin(), then write() as many bytes as announced, then end().
  Result<void> begin(const std::string& name, std::uint64_t bytes, bool stored);
  Result<void> write(std::string_view bytes);
  Result<Hashed> end();
  // The same for an entry whose bytes are at hand.
  Result<Hashed> add(const std::string& name, std::string_view bytes, bool stored);
  // A stored entry of a file's first bytes. Errors: also io when it is shorter.
  Result<Hashed> add_file(const std::string& name, const std::shared_ptr<const OpenFile>& file, std::uint64_t bytes);
  // On the disk, under its name; or the view is whole.
  Result<Hashed> close();

 private:
  struct Impl;
  explicit ZipFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orbweaver::archive
