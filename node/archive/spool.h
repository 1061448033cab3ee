// Files that a command fills: a text that grows, and a directory for what is needed only meanwhile. Thread rule: one
// owner.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver::archive {

// Created empty, and deleted with the object.
class WorkDirectory {
 public:
  // What is there already is deleted. Errors: io.
  static Result<std::unique_ptr<WorkDirectory>> make(const std::string& path);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit WorkDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// A file that is written anew from its beginning. Errors: disk_full, io.
class Spool {
 public:
  explicit Spool(std::string path) : path_(std::move(path)), out_(path_, std::ios::binary | std::ios::trunc) {}
  Result<void> add(std::string_view text);
  Result<void> close();
  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Result<void> failed() const;
  std::string path_;
  std::ofstream out_;
  std::uint64_t bytes_ = 0;
};

}  // namespace orbweaver::archive
