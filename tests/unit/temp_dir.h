// A directory for one test, removed at its end. It is in memory where the system offers that: thousands of small files
// on a disk would take minutes.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace orbweaver::test {

class TempDir {
 public:
  TempDir() {
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    const std::filesystem::path base = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = (base / "orbweaver-test-").string() + std::string(6, 'X');
    path_ = ::mkdtemp(name.data()) != nullptr ? name : std::string();
  }
  ~TempDir() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace orbweaver::test
