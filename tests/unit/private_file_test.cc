// Whose a path is, link by link: no other user can redirect writes elsewhere. Tests that need another user need to run
// as root.
#include "node/system/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "node/process/directory_lock.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

namespace fs = std::filesystem;
constexpr uid_t stranger = 65534;

class PrivateFile : public testing::Test {
 protected:
  std::string made(const std::string& name, mode_t mode = 0755) {
    fs::create_directories(at(name));
    ::chmod(at(name).c_str(), mode);
    return at(name);
  }
  std::string link(const std::string& name, const std::string& to) {
    fs::create_symlink(to, at(name));
    return at(name);
  }
  std::string at(const std::string& name) { return directory_.file(name); }
  // The reason for a refusal; empty: not refused.
  static std::string refusal(const std::string& path) {
    const Result<void> checked = check_path(path);
    if (checked) return {};
    EXPECT_EQ(checked.error().code, ErrorCode::io);
    EXPECT_NE(checked.error().message.find(path), std::string::npos) << checked.error().message;
    return checked.error().message;
  }
  // The path is refused, and nothing is made or written there.
  void stays_empty(const std::string& path, const std::string& in) {
    EXPECT_FALSE(DirectoryLock::take(path)) << path;
    EXPECT_TRUE(fs::is_empty(in)) << in;
  }
  static void give_away(const std::string& path) { ASSERT_EQ(::lchown(path.c_str(), stranger, stranger), 0); }

  test::TempDir directory_;
};

TEST_F(PrivateFile, OnesOwnIsFineAlsoByLinksAndWhatIsNotThereYet) {
  made("a/b");
  link("by", at("a"));
  link("relative", "a/./../a");
  for (const char* path :
       {"a", "a/b", "a/b/", "a//b/./..", "by/b", "relative/b", "a/new", "a/new/../other", "by/new/er"})
    EXPECT_EQ(refusal(at(path)), "") << path;
  EXPECT_EQ(refusal("/"), "");
  const Result<WalkedPath> walked = walk_path(at("by/new/er"), ::geteuid());
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->there.back(), fs::canonical(at("a")));
  EXPECT_EQ(walked->missing, (std::vector<std::string>{"new", "er"}));
  EXPECT_EQ(walk_path(at("a/b/../new"), ::geteuid())->there.back(), fs::canonical(at("a")));
}

TEST_F(PrivateFile, BadInput_LinksThatGoInCirclesAreTold) {
  link("round", at("about"));
  link("about", at("round"));
  EXPECT_NE(refusal(at("round/x")), "");
}

TEST_F(PrivateFile, WhereEverybodyMayWriteIsRefusedUnlessSticky) {
  const std::string open = made("open", 0777);
  made("open/mine");
  EXPECT_NE(refusal(open), "");
  EXPECT_NE(refusal(at("open/mine")), "");
  EXPECT_NE(refusal(at("open/new")), "");
  const std::string shared = made("shared", 01777);
  made("shared/mine");
  EXPECT_EQ(refusal(at("shared/mine")), "");
  EXPECT_EQ(refusal(at("shared/new")), "");
  EXPECT_NE(refusal(shared), "") << "anybody may lay a link in it";
  EXPECT_EQ(refusal(made("of-a-group", 0775)), "");
}

TEST_F(PrivateFile, APartOrALinkOfAnotherUserIsRefusedBeforeAnythingIsWritten) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string mine = made("mine");
  const std::string theirs = made("theirs");
  give_away(theirs);
  stays_empty(theirs, theirs);
  stays_empty(theirs + "/new/er", theirs);
  made("shared", 01777);
  give_away(link("shared/laid", mine));
  stays_empty(at("shared/laid"), mine);
  stays_empty(at("shared/laid/new"), mine);
  link("own", at("shared/laid"));
  stays_empty(at("own"), mine);
  link("into", theirs);
  stays_empty(at("into"), theirs);
  stays_empty(at("into") + "/new", theirs);
  // Only part of the path is another user's: leaving it again with ".." does not help.
  fs::create_directories(theirs + "/below");
  EXPECT_NE(refusal(theirs + "/below/../../mine").find("another user"), std::string::npos);
  for (const char* name : {"archive", "store"}) give_away(link(std::string("mine/") + name, at("of-victim")));
  made("of-victim", 0700);
  EXPECT_FALSE(close_directory(at("mine/archive"), DataAccess::all));
  struct stat status {};
  ASSERT_EQ(::stat(at("of-victim").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(PrivateFile, RootsPathForAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  give_away(made("theirs"));
  EXPECT_TRUE(walk_path(at("theirs/new"), stranger));
  EXPECT_FALSE(walk_path(at("theirs/new"), stranger - 1));
}

}  // namespace
}  // namespace orbweaver
