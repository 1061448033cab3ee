#include "node/system/run_as.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "node/system/private_file.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
};

Result<User> user_of(const std::string& name) {
  errno = 0;
  const struct passwd* const found = ::getpwnam(name.c_str());  // before threads start: the result is static
  if (found == nullptr)
    return fail(ErrorCode::invalid_setting, "--user: there is no user '" + name + "'" +
                                                (errno == 0 ? "" : std::string(": ") + std::strerror(errno)) +
                                                "; make one: adduser --system --group " + name);
  return User{found->pw_uid, found->pw_gid, found->pw_dir};
}

tl::unexpected<Error> cannot(const std::string& what) {
  return fail(ErrorCode::io, "cannot " + what + ": " + std::strerror(errno));
}

// What root does for the user before it becomes that user: make a directory, or give it an empty one.
struct Help {
  std::string make{};
  std::string give{};
};

// Finds what the user needs. Called with the user's effective rights; it changes nothing.
Result<Help> help_needed(const std::string& user, const std::string& directory, const WalkedPath& walked) {
  const auto may = [](const std::string& path, int mode) {
    return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
  };
  const std::string& last = walked.there.back();
  for (const std::string& on_the_way : walked.there)
    if ((on_the_way != last || !walked.missing.empty()) && !may(on_the_way, X_OK))
      return fail(ErrorCode::io, "the directory " + directory + " is out of " + user + "'s reach: " + user +
                                     " may not enter " + on_the_way + "; use a directory elsewhere, or let " + user +
                                     " in: chmod o+x " + on_the_way);
  if (!walked.missing.empty())
    return may(last, W_OK | X_OK) ? Help{} : Help{.make = (last == "/" ? "" : last) + "/" + walked.missing.front()};
  if (may(last, R_OK | W_OK | X_OK)) return Help{};
  return Help{.give = last};
}

// Runs as root again: makes or gives the directory, or returns the reason why not.
Result<void> give(const Help& help, const User& who, const std::string& user, const std::string& directory) {
  if (!help.make.empty() && ::mkdir(help.make.c_str(), 0777) != 0) return cannot("make the directory " + help.make);
  const std::string& given = help.make.empty() ? help.give : help.make;
  if (given.empty()) return {};
  std::error_code ignored;
  if (!std::filesystem::is_empty(given, ignored) || ignored)
    return fail(ErrorCode::io, "the directory " + directory + " is not " + user +
                                   "'s to read and write; fix it: chown -R " + user + " " + directory);
  if (::lchown(given.c_str(), who.uid, who.gid) != 0) return cannot("give " + given + " to " + user);
  return {};
}

}  // namespace

Result<void> run_as(const std::string& user, const std::string& directory, DataAccess access) {
  set_data_access(access);
  if (user.empty()) {
    if (::geteuid() == 0)
      complain(
          "runs as root: a fault that a hostile page exploits would give away the whole machine. Let it become another "
          "user: --user NAME (--user root: stay root, without this message)");
    return {};
  }
  const Result<User> who = user_of(user);
  if (!who) return tl::make_unexpected(who.error());
  if (who->uid == ::geteuid()) return {};
  if (::geteuid() != 0)
    return fail(ErrorCode::invalid_setting, "--user " + user +
                                                ": only root can become another user; leave it out, or "
                                                "start as that user");
  const Result<WalkedPath> walked = walk_path(directory, who->uid);
  if (!walked) return tl::make_unexpected(walked.error());
  if (::initgroups(user.c_str(), who->gid) != 0) return cannot("take the groups of " + user);
  // First looks with the user's rights: all errors are found before anything is made.
  if (::setegid(who->gid) != 0 || ::seteuid(who->uid) != 0) return cannot("look as " + user);
  const Result<Help> help = help_needed(user, directory, *walked);
  if (::seteuid(0) != 0 || ::setegid(0) != 0) return cannot("be root again");
  if (!help) return tl::make_unexpected(help.error());
  if (Result<void> given = give(*help, *who, user, directory); !given) return given;
  if (::setresgid(who->gid, who->gid, who->gid) != 0) return cannot("take the group of " + user);
  if (::setresuid(who->uid, who->uid, who->uid) != 0) return cannot("become " + user);
  if (::setresuid(0, 0, 0) == 0) return fail(ErrorCode::internal, "became " + user + ", and can be root again");
  ::setenv("HOME", who->home.c_str(), 1);
  return make_own_directory(directory, access);
}

}  // namespace orbweaver
