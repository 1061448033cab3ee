#include "storage/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "storage/append_directory.h"

namespace orbweaver::storage {
namespace {

// Takes the lock of an open file and its size; closes it on failure.
Result<std::uint64_t> lock_and_measure(int fd, const std::string& path) {
  struct stat status {};
  int error = 0;
  bool locked_by_other = false;
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    error = errno;
    locked_by_other = error == EWOULDBLOCK;
  } else if (::fstat(fd, &status) != 0) {
    error = errno;
  }
  if (error == 0 && status.st_nlink > 0) return static_cast<std::uint64_t>(status.st_size);
  ::close(fd);
  if (locked_by_other) return fail(ErrorKind::in_use, path + ": another process is writing this file");
  if (error == 0) return fail(ErrorKind::in_use, path + ": another process removed this file");
  return io_error("cannot lock", path, error);
}

// True after a crash between link and unlink.
bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// open(2); the descriptor, or 0 - errno.
int open_file(const std::string& path, int flags, OpenWaiter* waiter) {
  int fd = -1;
  const int error = open_with(waiter, path, [&] {
    fd = ::open(path.c_str(), flags, 0644);
    return fd < 0 ? errno : 0;
  });
  return error == 0 ? fd : -error;
}

}  // namespace

// An open descriptor, closed when its last user is gone.
class AppendFile::Open final : public SyncedFile {
 public:
  Open(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~Open() override { ::close(fd_); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  int fd() const { return fd_; }
  Result<void> sync() override {
    const std::lock_guard lock(mutex_);
    if (error_ == 0 && ::fdatasync(fd_) != 0) error_ = errno;
    if (error_ != 0) return sync_error(path_, error_);
    return {};
  }

 private:
  const int fd_;
  const std::string path_;
  std::mutex mutex_;
  int error_ = 0;  // of the first sync that failed; guarded by mutex_
};

std::shared_ptr<SyncedFile> AppendFile::synced_file() const { return open_; }

tl::unexpected<Error> io_error(const std::string& what, const std::string& path, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  return fail(full ? ErrorKind::disk_full : ErrorKind::io,
              what + " " + path + ": " + std::error_code(error_number, std::generic_category()).message());
}

tl::unexpected<Error> sync_error(const std::string& path, int error_number) {
  auto error = io_error("cannot sync", path, error_number);
  error.value().message += "; mend the disk and start again: nothing that counted is lost";
  return error;
}

Result<AppendFile> AppendFile::create(const std::string& path, OpenWaiter* waiter) {
  AppendFile file;
  file.path_ = path;
  const int fd = open_file(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, waiter);
  if (fd < 0) return io_error("cannot make", path, -fd);
  const Result<std::uint64_t> size = lock_and_measure(fd, path);
  if (!size) return tl::make_unexpected(size.error());
  file.open_ = std::make_shared<Open>(fd, path);
  return file;
}

Result<AppendFile> AppendFile::open_existing(const std::string& path, OpenWaiter* waiter) {
  AppendFile file;
  file.path_ = path;
  const int fd = open_file(path, O_RDWR | O_CLOEXEC, waiter);
  if (fd < 0) return io_error("cannot open", path, -fd);
  const Result<std::uint64_t> size = lock_and_measure(fd, path);
  if (!size) return tl::make_unexpected(size.error());
  file.open_ = std::make_shared<Open>(fd, path);
  file.size_ = *size;
  return file;
}

Result<void> AppendFile::append(std::string_view bytes) {
  if (torn_) {
    if (auto mended = cut(size_); !mended) return mended;
  }
  std::string_view left = bytes;
  while (!left.empty()) {
    const auto offset = static_cast<::off_t>(size_ + (bytes.size() - left.size()));
    const ::ssize_t wrote = ::pwrite(open_->fd(), left.data(), left.size(), offset);
    if (wrote > 0) {
      left.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (wrote < 0 && errno == EINTR) {
      continue;
    } else {
      const int error = wrote == 0 ? ENOSPC : errno;
      torn_ = true;
      (void)cut(size_);  // when this fails too, the next append tries again before it writes
      return io_error("cannot write to", path_, error);
    }
  }
  size_ += bytes.size();
  return {};
}

Result<void> AppendFile::cut(std::uint64_t size) {
  if (::ftruncate(open_->fd(), static_cast<::off_t>(size)) != 0) return io_error("cannot cut", path_, errno);
  size_ = size;
  torn_ = false;
  return {};
}

Result<std::uint64_t> AppendFile::read_at(std::uint64_t offset, char* to, std::uint64_t count) const {
  for (;;) {
    const ::ssize_t got = ::pread(open_->fd(), to, static_cast<std::size_t>(count), static_cast<::off_t>(offset));
    if (got >= 0) return static_cast<std::uint64_t>(got);
    if (errno != EINTR) return io_error("cannot read", path_, errno);
  }
}

Result<void> rename_durably(const std::string& from, const std::string& to, OpenWaiter* waiter) {
  // link and unlink instead of rename: rename would replace a file of that name.
  if (::link(from.c_str(), to.c_str()) == 0 || (errno == EEXIST && same_file(from, to))) {
    if (::unlink(from.c_str()) != 0) return io_error("cannot remove", from, errno);
  } else {
    const int error = errno;
    if (error == EEXIST || ::access(to.c_str(), F_OK) == 0)
      return io_error("cannot rename " + from + " to", to, EEXIST);
    // A file system without hard links.
    if (::rename(from.c_str(), to.c_str()) != 0) return io_error("cannot rename " + from + " to", to, errno);
  }
  return sync_directory(std::filesystem::path(to).parent_path().string(), waiter);
}

}  // namespace orbweaver::storage
