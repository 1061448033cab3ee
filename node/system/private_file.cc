#include "node/system/private_file.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "node/errors/storage_error.h"
#include "storage/append_directory.h"
#include "storage/append_file.h"

namespace orbweaver {

namespace {

ErrorCode code_of(int error) { return error == ENOSPC || error == EDQUOT ? ErrorCode::disk_full : ErrorCode::io; }

tl::unexpected<Error> cannot(const char* what, const std::string& path, int error) {
  return fail(code_of(error), std::string("cannot ") + what + " " + path + ": " + std::strerror(error));
}

// Writes a file that this call creates; after a failure the file is removed.
Result<void> write_new(const std::string& path, const std::string& text, mode_t mode, Durability durability,
                       storage::OpenWaiter* waiter = nullptr) {
  int fd = -1;
  const int failure = storage::open_with(waiter, path, [&] {
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    return fd < 0 ? errno : 0;
  });
  if (failure != 0) return cannot("make", path, failure);
  std::size_t done = 0;
  int error = 0;
  while (done < text.size() && error == 0) {
    const ssize_t wrote = ::write(fd, text.data() + done, text.size() - done);
    if (wrote >= 0) done += static_cast<std::size_t>(wrote);
    if (wrote < 0 && errno != EINTR) error = errno;
  }
  const bool unsynced = error == 0 && durability == Durability::power && ::fsync(fd) != 0;
  if (unsynced) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  ::unlink(path.c_str());
  if (unsynced) return tl::make_unexpected(error_of(storage::sync_error(path, error).value()));
  return cannot("write", path, error);
}

Result<void> sync_name(const std::string& path, Durability durability, storage::OpenWaiter* waiter = nullptr) {
  if (durability != Durability::power) return {};
  if (const auto synced = storage::sync_directory(std::filesystem::path(path).parent_path().string(), waiter); !synced)
    return tl::make_unexpected(error_of(synced.error()));
  return {};
}

constexpr int max_links = 40;  // as in Linux

// "PATH: PART", or the path alone.
std::string place(const std::string& path, const std::string& part) { return path == part ? path : path + ": " + part; }

tl::unexpected<Error> belongs_to_another(const std::string& path, const std::string& part, uid_t uid) {
  const struct passwd* const owner = ::getpwuid(uid);
  const std::string name = owner == nullptr ? std::to_string(uid) : owner->pw_name;
  return fail(ErrorCode::io, place(path, part) + " belongs to another user (" + name +
                                 "), who could redirect what is written there; run this as that user" +
                                 (::geteuid() == 0 ? " (--user " + name + ")" : "") +
                                 ", or use a directory of your own");
}

void push_parts(std::vector<std::string>& left, const std::string& path) {  // the next one is last
  std::vector<std::string> parts;
  std::string part;
  for (std::istringstream in(path); std::getline(in, part, '/');)
    if (!part.empty() && part != ".") parts.push_back(part);
  left.insert(left.end(), parts.rbegin(), parts.rend());
}

mode_t mask_of(DataAccess access) {
  switch (access) {
    case DataAccess::owner:
      return 077;
    case DataAccess::group:
      return 027;
    case DataAccess::all:
      return 022;
  }
  return 077;
}

}  // namespace

void set_data_access(DataAccess access) { ::umask(mask_of(access)); }

Result<WalkedPath> walk_path(const std::string& path, unsigned user) {
  struct stat status {};
  if (::lstat("/", &status) != 0) return cannot("look at", "/", errno);
  const auto trusted = [&, system = status.st_uid](uid_t uid) { return uid == 0 || uid == user || uid == system; };
  WalkedPath walked{.there = {"/"}, .missing = {}};
  std::vector<std::string> left;
  push_parts(left, path);
  if (!path.starts_with('/')) {
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    if (error) return cannot("look at", path, error.value());
    push_parts(left, here.string());
  }
  std::string at;  // "" is "/"
  mode_t mode = status.st_mode;
  const mode_t mode_of_root = mode;
  for (int links = 0; !left.empty();) {
    const std::string part = left.back();
    if (part == "..") {
      left.pop_back();
      at.resize(at.empty() ? 0 : at.rfind('/'));
      if (::lstat(at.empty() ? "/" : at.c_str(), &status) != 0) return cannot("look at", path, errno);
      mode = status.st_mode;
      walked.there.push_back(at.empty() ? "/" : at);
      continue;
    }
    // The next part exists in this directory, or would be made there.
    if ((mode & S_IWOTH) != 0 && (mode & S_ISVTX) == 0) break;
    const std::string next = at + "/" + part;
    if (::lstat(next.c_str(), &status) != 0) {
      if (errno != ENOENT) return cannot("look at", place(path, next), errno);
      walked.missing.assign(left.rbegin(), left.rend());
      return walked;
    }
    left.pop_back();
    if (!trusted(status.st_uid)) return belongs_to_another(path, next, status.st_uid);
    if (S_ISLNK(status.st_mode)) {
      if (++links > max_links) return cannot("look at", place(path, next), ELOOP);
      std::error_code error;
      const std::string target = std::filesystem::read_symlink(next, error).string();
      if (error) return cannot("look at", place(path, next), error.value());
      if (target.starts_with('/')) {
        at.clear();
        mode = mode_of_root;
        walked.there.emplace_back("/");
      }
      push_parts(left, target);
      continue;
    }
    at = next;
    mode = status.st_mode;
    walked.there.push_back(at);
  }
  if (S_ISDIR(mode) && (mode & S_IWOTH) != 0)
    return fail(ErrorCode::io, place(path, at.empty() ? "/" : at) +
                                   " is a directory that every user may write to, so others could redirect what is "
                                   "written there; close it (chmod o-w), or use a directory of your own");
  return walked;
}

Result<void> check_path(const std::string& path) {
  if (Result<WalkedPath> walked = walk_path(path, ::geteuid()); !walked) return tl::make_unexpected(walked.error());
  return {};
}

Result<void> make_own_directory(const std::string& path, DataAccess access) {
  if (Result<void> checked = check_path(path); !checked) return checked;
  std::error_code made;
  std::filesystem::create_directories(path, made);
  if (made) return fail(code_of(made.value()), "cannot make the directory " + path + ": " + made.message());
  // Another user may have made the directory first, if all users may write to the parent (/tmp).
  if (Result<void> checked = check_path(path); !checked) return checked;
  std::error_code looked;
  if (std::filesystem::is_empty(path, looked) && !looked) return close_directory(path, access);
  return {};
}

Result<void> close_directory(const std::string& path, DataAccess access) {
  if (Result<void> checked = check_path(path); !checked) return checked;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return cannot("look at", path, errno);
  }
  const mode_t wanted = 0777U & ~mask_of(access);
  // If root owns the directory and another user runs this, root's mode stays.
  if (status.st_uid != ::geteuid() || (status.st_mode & 0777U) == wanted) return {};
  if (::chmod(path.c_str(), wanted) != 0) return cannot("close", path, errno);
  return {};
}

Result<void> write_whole(const std::string& path, const std::string& text, Durability durability,
                         storage::OpenWaiter* waiter) {
  const std::string fresh = path + ".new";
  if (::unlink(fresh.c_str()) != 0 && errno != ENOENT) return cannot("replace", fresh, errno);
  if (Result<void> written = write_new(fresh, text, 0666, durability, waiter); !written) return written;
  if (::rename(fresh.c_str(), path.c_str()) == 0) return sync_name(path, durability, waiter);
  const int error = errno;
  ::unlink(fresh.c_str());
  return cannot("write", path, error);
}

Result<void> write_secret(const std::string& path, const std::string& text, Durability durability) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0)
    return fail(ErrorCode::invalid_input, path + " is there already and stays as it is; name a new file");
  if (Result<void> written = write_new(path, text, 0600, durability); !written) return written;
  return sync_name(path, durability);
}

}  // namespace orbweaver
