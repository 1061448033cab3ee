// For targets that read files: one in a directory of its own, which is removed at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace orbweaver::fuzz {

class TempFile {
 public:
  TempFile() {
    // In memory where possible: some targets sync their files.
    std::error_code none;
    const std::filesystem::path memory = "/dev/shm";
    const auto place = std::filesystem::is_directory(memory, none) ? memory : std::filesystem::temp_directory_path();
    std::string made = (place / "orbweaver-fuzz-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    directory_ = made;
  }
  ~TempFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& directory() const { return directory_; }
  // The path of a file with these bytes.
  std::string write(std::string_view bytes, const std::string& name = "input") const {
    const std::string path = directory_ + "/" + name;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) std::abort();
    return path;
  }

 private:
  std::string directory_;
};

}  // namespace orbweaver::fuzz
