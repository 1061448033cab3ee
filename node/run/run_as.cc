#include "node/run/run_as.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "node/run/private_file.h"
#include "node/run/say.h"

namespace orbweaver {

namespace {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
};

Result<User> user_of(const std::string& name) {
  errno = 0;
  const struct passwd* const found = ::getpwnam(name.c_str());  // before any thread: its static answer is ours
  if (found == nullptr)
    return fail(ErrorCode::invalid_setting, "--user: there is no user '" + name + "'" +
                                                (errno == 0 ? "" : std::string(": ") + std::strerror(errno)) +
                                                "; make one: adduser --system --group " + name);
  return User{found->pw_uid, found->pw_gid, found->pw_dir};
}

// What of the path is not there yet, the outermost first; the directory itself also when it is empty.
std::vector<std::filesystem::path> to_be_given(const std::string& directory) {
  std::vector<std::filesystem::path> missing;
  std::error_code ignored;
  std::filesystem::path at = std::filesystem::absolute(directory, ignored).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();
  if (std::filesystem::is_empty(at, ignored) && !ignored) return {at};
  for (; at.has_relative_path() && !std::filesystem::exists(at, ignored); at = at.parent_path())
    missing.insert(missing.begin(), at);
  return missing;
}

tl::unexpected<Error> cannot(const std::string& what) {
  return fail(ErrorCode::io, "cannot " + what + ": " + std::strerror(errno));
}

}  // namespace

Result<void> run_as(const std::string& user, const std::string& directory, DataAccess access) {
  set_data_access(access);
  if (user.empty()) {
    if (::geteuid() == 0)
      complain(
          "runs as root: a fault that a hostile page finds would have the whole machine. Let it become another user: "
          "--user NAME (--user root: as it is, without this line)");
    return {};
  }
  const Result<User> who = user_of(user);
  if (!who) return tl::make_unexpected(who.error());
  if (who->uid == ::geteuid()) return {};
  if (::geteuid() != 0)
    return fail(ErrorCode::invalid_setting, "--user " + user +
                                                ": only root can become another user; leave it out, or "
                                                "start as that user");
  const std::vector<std::filesystem::path> given = to_be_given(directory);
  std::error_code made;
  std::filesystem::create_directories(directory, made);
  if (made) return fail(ErrorCode::io, "cannot make the directory " + directory + ": " + made.message());
  for (const std::filesystem::path& path : given)
    if (::lchown(path.c_str(), who->uid, who->gid) != 0) return cannot("give " + path.string() + " to " + user);
  if (::initgroups(user.c_str(), who->gid) != 0) return cannot("take the groups of " + user);
  if (::setresgid(who->gid, who->gid, who->gid) != 0) return cannot("take the group of " + user);
  if (::setresuid(who->uid, who->uid, who->uid) != 0) return cannot("become " + user);
  if (::setresuid(0, 0, 0) == 0) return fail(ErrorCode::internal, "became " + user + ", and can be root again");
  ::setenv("HOME", who->home.c_str(), 1);
  if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0)
    return fail(ErrorCode::io, "the directory " + directory + " is not " + user + "'s to write: " +
                                   std::strerror(errno) + "; mend it: chown -R " + user + " " + directory);
  return {};
}

}  // namespace orbweaver
