#include "node/tools/seed_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

class SeedFileTest : public testing::Test {
 protected:
  Result<std::vector<std::string>> read(const std::string& text) {
    std::ofstream(path()) << text;
    return read_seed_file(path());
  }
  std::string path() const { return directory_.file("seeds.txt"); }

  test::TempDir directory_;
};

TEST_F(SeedFileTest, OneUrlALineBlanksAndCommentsLeftOut) {
  const auto seeds = read(
      "# our sites\n"
      "http://one.test/\n"
      "\n"
      "   \t\n"
      "  https://two.test:8443/a?b#c  \n"
      "  # another comment\n"
      "http://three.test/#fragment\n"
      "http://four.test/last-line-without-end");
  ASSERT_TRUE(seeds) << seeds.error().message;
  EXPECT_EQ(*seeds,
            (std::vector<std::string>{"http://one.test/", "https://two.test:8443/a?b#c", "http://three.test/#fragment",
                                      "http://four.test/last-line-without-end"}));
}

TEST_F(SeedFileTest, LinesOfWindows) {
  const auto seeds = read("http://one.test/\r\n\r\n# comment\r\nhttp://two.test/\r\n");
  ASSERT_TRUE(seeds) << seeds.error().message;
  EXPECT_EQ(*seeds, (std::vector<std::string>{"http://one.test/", "http://two.test/"}));
}

TEST_F(SeedFileTest, BadInput_AByteOrderMarkIsNoPartOfAUrl) {
  const auto seeds = read("\xEF\xBB\xBFhttp://one.test/\n");
  ASSERT_TRUE(seeds) << seeds.error().message;
  EXPECT_EQ(*seeds, std::vector<std::string>{"http://one.test/"});
  const auto comment = read("\xEF\xBB\xBF# comment\nhttp://one.test/\n");
  ASSERT_TRUE(comment) << comment.error().message;
}

TEST_F(SeedFileTest, AnEmptyFileHasNoSeeds) {
  for (const char* text : {"", "\n", "# nothing yet\n"}) {
    const auto seeds = read(text);
    ASSERT_TRUE(seeds);
    EXPECT_TRUE(seeds->empty());
  }
}

TEST_F(SeedFileTest, BadInput_TheErrorNamesFileLineAndText) {
  for (const std::string bad :
       {"not-a-url", "ftp://one.test/", "http://", "mailto:a@b.test", "http://a b/", "/relative"}) {
    const auto seeds = read("# first\nhttp://one.test/\n\n" + bad + "\nhttp://two.test/\n");
    ASSERT_FALSE(seeds) << bad;
    EXPECT_EQ(seeds.error().code, ErrorCode::invalid_input);
    EXPECT_NE(seeds.error().message.find(path() + ":4:"), std::string::npos) << seeds.error().message;
    EXPECT_NE(seeds.error().message.find(bad), std::string::npos) << seeds.error().message;
  }
}

TEST_F(SeedFileTest, BadInput_MissingFilesAndDirectoriesAreNamed) {
  const auto missing = read_seed_file(directory_.file("nothing.txt"));
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find(directory_.file("nothing.txt")), std::string::npos);
  const auto directory = read_seed_file(directory_.path());
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.error().message.find(directory_.path()), std::string::npos);
}

TEST_F(SeedFileTest, BadInput_BinaryAndEndlessLinesAreErrorsWithShortMessages) {
  for (const std::string& text : {std::string(300'000, 'x'), std::string("http://a.test/\0\1\2\n\xff\xfe", 19),
                                  "http://one.test/" + std::string(1'000'000, 'a'), std::string(1000, '\0')}) {
    const auto seeds = read(text);
    ASSERT_FALSE(seeds);
    EXPECT_LT(seeds.error().message.size(), 2'000u);
    EXPECT_NE(seeds.error().message.find(path()), std::string::npos);
  }
}

// During its life this process may use at most `bytes` more of address space.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes;
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

// A disk image given by mistake: a gigabyte (sparse) without an end of line.
TEST_F(SeedFileTest, BadInput_AnEndlessLineIsNotReadToItsEnd) {
  std::ofstream(path()) << "http://one.test/\n";
  std::filesystem::resize_file(path(), 1u << 30);
  const MemoryLimit limit(64u << 20);
  const auto seeds = read_seed_file(path());
  ASSERT_FALSE(seeds);
  EXPECT_EQ(seeds.error().code, ErrorCode::invalid_input) << seeds.error().message;
  EXPECT_NE(seeds.error().message.find(path() + ":2:"), std::string::npos) << seeds.error().message;
  EXPECT_LT(seeds.error().message.size(), 2'000u);
}

TEST(CheckSeeds, TheSameCheckForACommandLine) {
  EXPECT_TRUE(check_seeds({}));
  EXPECT_TRUE(check_seeds({"http://one.test/", "https://two.test/x"}));
  const auto checked = check_seeds({"http://one.test/", "gopher://two.test/"});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::invalid_input);
  EXPECT_NE(checked.error().message.find("gopher://two.test/"), std::string::npos);
}

}  // namespace
}  // namespace orbweaver
