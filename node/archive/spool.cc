#include "node/archive/spool.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace orbweaver::archive {

Result<std::unique_ptr<WorkDirectory>> WorkDirectory::make(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) std::filesystem::create_directory(path, error);
  if (error) return fail(ErrorCode::io, "cannot make " + path + ": " + error.message());
  return std::unique_ptr<WorkDirectory>(new WorkDirectory(path));
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<void> Spool::add(std::string_view text) {
  out_.write(text.data(), static_cast<std::streamsize>(text.size()));
  bytes_ += text.size();
  return out_ ? Result<void>() : failed();
}

Result<void> Spool::close() {
  out_.close();
  return out_ ? Result<void>() : failed();
}

Result<void> Spool::failed() const {
  return fail(errno == ENOSPC ? ErrorCode::disk_full : ErrorCode::io,
              "cannot write " + path_ + ": " + std::strerror(errno));
}

}  // namespace orbweaver::archive
