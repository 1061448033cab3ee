// Views of files, and a ZIP file that is only a view: byte for byte what would be written.
#include "node/archive/byte_view.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "node/archive/zip_file.h"
#include "tests/unit/suites.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::archive {
namespace {

using test::TempDir;

std::string noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::shared_ptr<const OpenFile> file_of(const TempDir& dir, const std::string& name, const std::string& text) {
  std::ofstream(dir.file(name), std::ios::binary) << text;
  return std::make_shared<OpenFile>(::open(dir.file(name).c_str(), O_RDONLY | O_CLOEXEC), dir.file(name));
}

TEST(ByteView, EachPartOfItIsRead) {
  const TempDir dir;
  const auto a = file_of(dir, "a", "abcdefghij");
  const auto b = file_of(dir, "b", "0123456789");
  ByteView view;
  EXPECT_EQ(*view.read(0, 5), "");
  view.append(a, 2, 3);
  view.append(a, 5, 1);  // joins
  view.append(b, 0, 0);
  view.append(b, 9, 1);
  view.append(a, 0, 2);
  const std::string whole = "cdef9ab";
  EXPECT_EQ(view.bytes(), whole.size());
  for (std::size_t from = 0; from <= whole.size(); ++from)
    for (std::size_t count = 0; count <= whole.size() + 1; ++count)
      EXPECT_EQ(*view.read(from, count), whole.substr(from, count)) << from << " " << count;
  EXPECT_EQ(*view.read(whole.size() + 1, 1), "");
}

TEST(ByteView, AFileThatBecameShorterIsAnError) {
  const TempDir dir;
  ByteView view;
  view.append(file_of(dir, "a", "abcdefghij"), 0, 10);
  std::filesystem::resize_file(dir.file("a"), 5);
  EXPECT_EQ(*view.read(0, 5), "abcde");
  const auto read = view.read(0, 6);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::io);
  EXPECT_NE(read.error().message.find("shorter"), std::string::npos);
}

TEST(ZipView, IsByteForByteWhatIsWritten) {
  const TempDir dir;
  const auto big = file_of(dir, "big", noise(3'000'000, 1));
  const auto small = file_of(dir, "small", "small");
  const Time time{std::chrono::sys_days(std::chrono::year(2026) / 1 / 2)};
  const auto fill = [&](ZipFile& zip) {
    EXPECT_TRUE(zip.add_file("archive/big", big, 2'500'000));
    EXPECT_TRUE(zip.add("pages/x", std::string(100'000, 'x'), false));
    EXPECT_TRUE(zip.add_file("archive/small", small, 5));
    EXPECT_TRUE(zip.add("stored", "text", true));
    return *zip.close();
  };
  const auto written = ZipFile::create(dir.file("x.zip"), time);
  ASSERT_TRUE(written);
  const Hashed whole = fill(**written);
  ByteView view;
  auto seen = ZipFile::create_view(dir.file("work"), time, view);
  ASSERT_TRUE(seen);
  const Hashed viewed = fill(**seen);
  seen->reset();
  EXPECT_FALSE(std::filesystem::exists(dir.file("work")));
  EXPECT_EQ(viewed.sha256, whole.sha256);
  EXPECT_EQ(viewed.bytes, whole.bytes);
  EXPECT_EQ(*view.read(0, 10'000'000), test::read_file(dir.file("x.zip")));
  EXPECT_EQ(hash_of_file(dir.file("x.zip"))->sha256, whole.sha256);
}

TEST(ZipView, AFileThatIsTooShortIsAnError) {
  const TempDir dir;
  ByteView view;
  const auto zip = ZipFile::create_view(dir.file("work"), Time{}, view);
  EXPECT_FALSE((*zip)->add_file("archive/x", file_of(dir, "small", "small"), 6));
}

}  // namespace
}  // namespace orbweaver::archive
