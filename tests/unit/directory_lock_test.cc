#include "node/process/directory_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

TEST(DirectoryLock, BadInput_ASecondTakerIsToldWhoHasIt) {
  const test::TempDir directory;
  std::optional<Result<DirectoryLock>> first(DirectoryLock::take(directory.file("data")));
  ASSERT_TRUE(*first) << first->error().message;
  const auto second = DirectoryLock::take(directory.file("data"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::in_use);
  EXPECT_NE(second.error().message.find(directory.file("data")), std::string::npos);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid()) + ";"), std::string::npos)
      << second.error().message;
  first.reset();
  EXPECT_TRUE(DirectoryLock::take(directory.file("data"))) << "given back";
}

TEST(DirectoryLock, MakesTheDirectoryAndItsParents) {
  const test::TempDir directory;
  ASSERT_TRUE(DirectoryLock::take(directory.file("a/b/c")));
  EXPECT_EQ(::access(directory.file("a/b/c").c_str(), W_OK), 0);
}

TEST(DirectoryLock, AMovedLockHoldsOn) {
  const test::TempDir directory;
  auto taken = DirectoryLock::take(directory.path());
  ASSERT_TRUE(taken);
  const DirectoryLock moved(std::move(*taken));
  EXPECT_FALSE(DirectoryLock::take(directory.path()));
}

TEST(DirectoryLock, TheSystemFreesItWhenTheProcessDies) {
  const test::TempDir directory;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = DirectoryLock::take(directory.path());
    const char said = lock ? 'y' : 'n';
    if (::write(ready[1], &said, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char said = 0;
  ASSERT_EQ(::read(ready[0], &said, 1), 1);
  ASSERT_EQ(said, 'y');
  const auto refused = DirectoryLock::take(directory.path());
  EXPECT_FALSE(refused);
  if (!refused) {
    EXPECT_NE(refused.error().message.find("process " + std::to_string(child) + ";"), std::string::npos)
        << refused.error().message;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto taken = DirectoryLock::take(directory.path());
  ASSERT_TRUE(taken) << "a lock file left by a dead process is no lock";
  std::string holder;
  std::ifstream(directory.file("lock")) >> holder;
  EXPECT_EQ(holder, std::to_string(::getpid())) << "a longer number of an earlier holder leaves nothing behind";
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(DirectoryLock, WhoMayReadTheDataMayNotLockIt) {
  const test::TempDir directory;
  const mode_t before = ::umask(0);
  std::ofstream(directory.file("lock")) << "1";  // left by an earlier release: 0666 here
  {
    const auto taken = DirectoryLock::take(directory.path(), DataAccess::all);
    ::umask(before);
    ASSERT_TRUE(taken);
    struct stat status {};
    ASSERT_EQ(::stat(directory.file("lock").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_EQ(DirectoryLock::holder(directory.path()), std::to_string(::getpid()));
    if (::geteuid() == 0) {
      ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
      ASSERT_EQ(::seteuid(65534), 0);
      EXPECT_EQ(::open(directory.file("lock").c_str(), O_RDONLY), -1);
      EXPECT_EQ(DirectoryLock::holder(directory.path()), "unknown");
      ASSERT_EQ(::seteuid(0), 0);
      std::ofstream(directory.file("peer.json")) << R"({"pid": )" << ::getpid() << "}";
      ASSERT_EQ(::chmod(directory.file("peer.json").c_str(), 0644), 0);
      ASSERT_EQ(::seteuid(65534), 0);
      EXPECT_EQ(DirectoryLock::holder(directory.path()), std::to_string(::getpid()));
      ASSERT_EQ(::seteuid(0), 0);
      std::ofstream(directory.file("ended.json")) << "{}";
      ASSERT_EQ(::seteuid(65534), 0);
      EXPECT_EQ(DirectoryLock::holder(directory.path()), std::nullopt);
      ASSERT_EQ(::seteuid(0), 0);
    }
  }
  EXPECT_EQ(DirectoryLock::holder(directory.path()), std::nullopt);
}

TEST(DirectoryLock, BadInput_WhatIsNoDirectoryIsAnErrorThatNamesIt) {
  const test::TempDir directory;
  std::ofstream(directory.file("file")) << "a file";
  for (const std::string& path : {directory.file("file"), directory.file("file/below")}) {
    const auto taken = DirectoryLock::take(path);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, ErrorCode::io);
    EXPECT_NE(taken.error().message.find(path), std::string::npos) << taken.error().message;
  }
  EXPECT_FALSE(DirectoryLock::take(""));
}

TEST(DirectoryLock, BadInput_AnOldLockFileWithGarbageIsTakenOver) {
  const test::TempDir directory;
  std::ofstream(directory.file("lock")) << std::string(10'000, 'x');
  ASSERT_TRUE(DirectoryLock::take(directory.path()));
  std::string holder;
  std::ifstream(directory.file("lock")) >> holder;
  EXPECT_EQ(holder, std::to_string(::getpid()));
}

}  // namespace
}  // namespace orbweaver
