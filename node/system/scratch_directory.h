// A directory for files that are needed only meanwhile. Thread rule: one owner.
#pragma once

#include <memory>
#include <string>

#include "node/base.h"

namespace orbweaver {

// Only this user may read it. It is deleted with the object, with all that is in it.
class ScratchDirectory {
 public:
  // In `parent`; empty: where temporary files go (TMPDIR). Its name begins with `prefix`. Errors: io.
  static Result<std::unique_ptr<ScratchDirectory>> make(const std::string& parent, const std::string& prefix);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace orbweaver
