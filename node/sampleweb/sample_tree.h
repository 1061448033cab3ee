// A directory tree served as a host. Nothing outside the tree is served, whatever the path or its symbolic links are.
// Thread rule: immutable; reads files at each request.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/sampleweb/sample_web.h"

namespace orbweaver::sample {

inline constexpr std::uintmax_t max_tree_file_bytes =
    256ULL << 20;  // larger files get 413: a file is read into memory as a whole

class SampleTree {
 public:
  static Result<SampleTree> open(const std::string& directory);

  // A directory: 301 to its name with '/', then its index.html, else a list of its content.
  SampleAnswer answer(std::string_view path_and_query) const;

 private:
  explicit SampleTree(std::filesystem::path root) : root_(std::move(root)) {}

  SampleAnswer directory_answer(const std::filesystem::path& directory, std::string_view path) const;
  SampleAnswer file_answer(const std::filesystem::path& file) const;
  bool inside(const std::filesystem::path& path) const;

  std::filesystem::path root_;  // canonical
};

}  // namespace orbweaver::sample
