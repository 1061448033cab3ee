// A file that is nowhere as a whole: its bytes are pieces of other files. Thread rule: append() by one thread, before
// read() by any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver::archive {

// A file that stays readable, also when it gets another name or is deleted.
class OpenFile {
 public:
  // Takes the descriptor. `path`: for words.
  OpenFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  // Up to `bytes` bytes from there; fewer only at the end of the file. Errors: io.
  Result<std::size_t> read(std::uint64_t offset, char* to, std::size_t bytes) const;

 private:
  int descriptor_;
  std::string path_;
};

class ByteView {
 public:
  void append(const std::shared_ptr<const OpenFile>& file, std::uint64_t offset, std::uint64_t bytes);
  std::uint64_t bytes() const { return pieces_.empty() ? 0 : pieces_.back().begin + pieces_.back().bytes; }
  // The bytes from there, fewer only at the end. Errors: io, also when a file has become shorter.
  Result<std::string> read(std::uint64_t offset, std::size_t bytes) const;

 private:
  struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;  // in the file
    std::shared_ptr<const OpenFile> file;
  };
  std::vector<Piece> pieces_;
};

}  // namespace orbweaver::archive
