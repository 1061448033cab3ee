// A directory tree served as a host. Nothing outside the tree is served, whatever the path or the symbolic links in it
// say. Thread rule: immutable; reads files at each request.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/sampleweb/sample_web.h"

namespace orbweaver::sample {

inline constexpr std::uintmax_t tree_file_bytes_max =
    256ULL << 20;  // larger files answer 413: they are read into memory whole

class SampleTree {
 public:
  static Result<SampleTree> open(const std::string& directory);

  // A directory: 301 to its name with '/', then its index.html, else a list of what is in it.
  SampleAnswer answer(std::string_view path_and_query) const;

 private:
  explicit SampleTree(std::filesystem::path root) : root_(std::move(root)) {}

  SampleAnswer directory_answer(const std::filesystem::path& directory, std::string_view path) const;
  SampleAnswer file_answer(const std::filesystem::path& file) const;
  bool inside(const std::filesystem::path& path) const;

  std::filesystem::path root_;  // canonical
};

}  // namespace orbweaver::sample
