// The JSON Lines writer: whole lines only, files that rotate, a torn line cut off.
#include "storage/text_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/suites.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::storage {
namespace {

using test::read_file;
using test::TempDir;

TextFileConfig config_in(const TempDir& dir, std::uint64_t file_bytes = 1000) {
  return {dir.file("text"), "ow-0", file_bytes};
}

TextFile open_text(const TextFileConfig& config) {
  auto text = TextFile::open(config);
  EXPECT_TRUE(text) << text.error().message;
  return std::move(*text);
}

TEST(TextFile, LinesAreAppendedAndTheFileIsGoneOnWith) {
  const TempDir dir;
  {
    TextFile text = open_text(config_in(dir));
    ASSERT_TRUE(text.append("{\"a\":1}"));
    ASSERT_TRUE(text.append("{\"a\":\n2}"));
    ASSERT_TRUE(text.close());
  }
  TextFile text = open_text(config_in(dir));
  ASSERT_TRUE(text.append("{}"));
  EXPECT_EQ(read_file(dir.file("text/ow-0-00000.jsonl")), "{\"a\":1}\n{\"a\": 2}\n{}\n");
}

TEST(TextFile, RotatesBySize) {
  const TempDir dir;
  {
    TextFile text = open_text(config_in(dir, 10));
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(text.append("123456"));
  }
  EXPECT_EQ(read_file(dir.file("text/ow-0-00000.jsonl")), "123456\n123456\n");
  EXPECT_EQ(read_file(dir.file("text/ow-0-00001.jsonl")), "123456\n123456\n");
  TextFile text = open_text(config_in(dir, 10));
  ASSERT_TRUE(text.append("7"));
  EXPECT_EQ(read_file(dir.file("text/ow-0-00002.jsonl")), "7\n");
}

TEST(TextFile, ATornLastLineIsCutAtOpen) {
  for (const std::size_t torn : {0u, 1u, 65'535u, 65'536u, 200'000u}) {
    for (const std::string whole : {"", "one\n", "one\ntwo\n"}) {
      const TempDir dir;
      std::filesystem::create_directories(dir.file("text"));
      std::ofstream(dir.file("text/ow-0-00003.jsonl")) << whole << std::string(torn, 'x');
      TextFile text = open_text(config_in(dir));
      EXPECT_EQ(read_file(dir.file("text/ow-0-00003.jsonl")), whole) << torn;
    }
  }
}

TEST(TextFile, OtherFilesAreLeftAlone) {
  const TempDir dir;
  std::filesystem::create_directories(dir.file("text"));
  for (const char* name : {"ow-0-1-00000.jsonl", "ow-00000.jsonl", "ow-0-x.jsonl", "ow-0-.jsonl"}) {
    std::ofstream(dir.file(std::string("text/") + name)) << "torn";
  }
  TextFile text = open_text(config_in(dir));
  ASSERT_TRUE(text.append("a"));
  EXPECT_EQ(read_file(dir.file("text/ow-0-00000.jsonl")), "a\n");
  EXPECT_EQ(read_file(dir.file("text/ow-0-1-00000.jsonl")), "torn");
}

TEST(TextFile, AFileInUseIsRefused) {
  const TempDir dir;
  TextFile text = open_text(config_in(dir));
  ASSERT_TRUE(text.append("a"));
  const auto second = TextFile::open(config_in(dir));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::in_use);
}

}  // namespace
}  // namespace orbweaver::storage
