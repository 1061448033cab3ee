// Indexes of WARC files: sorted lines that lead to their members, in each layout, and several made one.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "node/archive/index_file.h"
#include "node/archive/index_lines.h"
#include "storage/warc.h"
#include "tests/unit/suites.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::archive {
namespace {

namespace fs = std::filesystem;
using storage::WarcPosition;
using test::suite_path;
using test::TempDir;

constexpr IndexForm cdxj = IndexForm::cdxj;
constexpr IndexForm cdx11 = IndexForm::cdx11;
constexpr IndexLayout plain = IndexLayout::plain;
constexpr IndexLayout zipnum = IndexLayout::zipnum;

std::string unzipped(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  std::array<char, 4096> piece{};
  for (int got = 0; (got = gzread(file, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  gzclose(file);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct Archive {
  std::vector<std::string> paths;
  std::map<std::string, WarcPosition> positions;  // by URL
};

// `pages` responses of hosts that sort otherwise than they were fetched. `killed`: the files as they are before the
// writer finishes the last.
Archive archive_in(const TempDir& dir, int pages, bool killed = false) {
  storage::WarcConfig config;
  config.directory = dir.file("warc");
  config.name_prefix = "ow-c-p-0";
  config.file_bytes = 20'000;
  auto writer = storage::WarcWriter::open(config);
  Archive archive;
  for (int i = 0; i < pages; ++i) {
    const std::string uri = "http://h" + std::to_string(i * 7919 % 1000) + ".example/p" + std::to_string(i);
    storage::WarcExchange page;
    page.target_uri = uri;
    page.started = storage::Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 2));
    page.ip = "192.0.2.1";
    page.request_head = "GET / HTTP/1.1\r\n\r\n";
    page.response_head = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n";
    page.body = page.payload = uri;
    archive.positions[uri] = *(*writer)->write(page, page.started);
  }
  if (killed) fs::copy(config.directory, dir.file("killed"));
  EXPECT_TRUE((*writer)->close());
  for (const auto& entry : fs::directory_iterator(killed ? dir.file("killed") : config.directory))
    archive.paths.push_back(entry.path().string());
  std::sort(archive.paths.begin(), archive.paths.end());
  return archive;
}

TEST(IndexFile, LinesAreSortedAndLeadToTheirMembers) {
  const TempDir dir;
  const Archive archive = archive_in(dir, 300);
  ASSERT_GT(archive.paths.size(), 2u);
  const auto written = write_index(archive.paths, dir.file("index.cdxj"), cdxj, plain);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->captures, 300u);
  EXPECT_EQ(written->files, archive.paths.size());
  const std::vector<std::string> lines = lines_of(test::read_file(dir.file("index.cdxj")));
  EXPECT_EQ(lines.size(), 300u);
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  for (const std::string& line : lines) {
    const auto json = nlohmann::json::parse(line.substr(line.find('{')));
    const std::string url = json.at("url");
    EXPECT_EQ(line.substr(0, line.find('{')), search_key(url) + " 20260102000000 ");
    const WarcPosition& position = archive.positions.at(url);
    EXPECT_EQ(json.at("offset"), std::to_string(position.offset));
    EXPECT_EQ(json.at("length"), std::to_string(position.length));
    EXPECT_EQ(json.at("filename"), position.file);
    EXPECT_EQ(json.at("mime"), "text/html");
    EXPECT_EQ(json.at("status"), "200");
    // The member alone is the record.
    const std::string bytes = test::read_file(dir.file("warc") + "/" + position.file);
    std::ofstream(dir.file("member.gz"), std::ios::binary) << bytes.substr(position.offset, position.length);
    EXPECT_NE(unzipped(dir.file("member.gz")).find("WARC-Target-URI: " + url + "\r\n"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(dir.file("index.cdxj.work")));
}

TEST(IndexFile, BlocksHoldTheSameLinesAndAreFoundByTheirFirst) {
  const TempDir dir;
  const Archive archive = archive_in(dir, 7000);
  for (const IndexForm form : {cdxj, cdx11}) {
    ASSERT_TRUE(write_index(archive.paths, dir.file("plain"), form, plain));
    ASSERT_TRUE(write_index(archive.paths, dir.file("blocks.idx"), form, zipnum));
    std::string text = test::read_file(dir.file("plain"));
    if (form == cdx11) {
      ASSERT_TRUE(text.starts_with(" CDX N b a m s k r M S V g\n"));
      text.erase(0, text.find('\n') + 1);
    }
    EXPECT_EQ(unzipped(dir.file("blocks.cdx.gz")), text);
    EXPECT_EQ(test::read_file(dir.file("blocks.loc")), "blocks.cdx.gz\tblocks.cdx.gz\n");
    const std::string blocks = test::read_file(dir.file("blocks.cdx.gz"));
    const std::vector<std::string> lines = lines_of(text);
    std::size_t number = 0;
    std::uint64_t end = 0;
    for (const std::string& row : lines_of(test::read_file(dir.file("blocks.idx")))) {
      std::istringstream fields(row);
      std::string key, stamp, file;
      std::uint64_t offset = 0, length = 0, at = 0;
      ASSERT_TRUE(fields >> key >> stamp >> file >> offset >> length >> at) << row;
      EXPECT_EQ(file, "blocks.cdx.gz");
      EXPECT_EQ(offset, end);
      EXPECT_EQ(at, number + 1);
      EXPECT_TRUE(lines[number * 3000].starts_with(key + " " + stamp + " "));
      std::ofstream(dir.file("one.gz"), std::ios::binary) << blocks.substr(offset, length);
      EXPECT_TRUE(unzipped(dir.file("one.gz")).starts_with(key + " " + stamp + " "));
      end += length;
      ++number;
    }
    EXPECT_EQ(number, 3u);
    EXPECT_EQ(end, blocks.size());
  }
}

TEST(IndexFile, AFileThatIsBeingWrittenIsReadUpToItsLastWholeRecord) {
  const TempDir dir;
  const Archive archive = archive_in(dir, 150, true);
  ASSERT_TRUE(archive.paths.back().ends_with(".open"));
  std::ofstream(archive.paths.back(), std::ios::binary | std::ios::app) << "\x1f\x8b\x08\x04torn";
  const auto written = write_index(archive.paths, dir.file("x"), cdxj, plain);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->captures, 150u);
  EXPECT_EQ(written->damaged, 0u);
  // Lines have the file's final name.
  EXPECT_EQ(test::read_file(dir.file("x")).find(".open"), std::string::npos);
}

TEST(IndexFile, SeveralAreMadeOne) {
  const TempDir dir;
  const Archive archive = archive_in(dir, 300);
  const std::size_t half = archive.paths.size() / 2;
  const std::vector<std::string> a(archive.paths.begin(), archive.paths.begin() + static_cast<std::ptrdiff_t>(half));
  const std::vector<std::string> b(archive.paths.begin() + static_cast<std::ptrdiff_t>(half), archive.paths.end());
  for (const IndexForm form : {cdxj, cdx11}) {
    ASSERT_TRUE(write_index(archive.paths, dir.file("whole"), form, plain));
    ASSERT_TRUE(write_index(a, dir.file("a"), form, plain));
    ASSERT_TRUE(write_index(b, dir.file("b.idx"), form, zipnum));
    // One twice.
    const auto merged = merge_indexes({dir.file("b.cdx.gz"), dir.file("a"), dir.file("a")}, dir.file("merged"), plain);
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_EQ(merged->captures, 300u);
    EXPECT_EQ(test::read_file(dir.file("merged")), test::read_file(dir.file("whole")));
  }
}

TEST(IndexFile, WhatIsNoIndexIsRefused) {
  const TempDir dir;
  const Archive archive = archive_in(dir, 5);
  const std::string out = dir.file("merged");
  ASSERT_TRUE(write_index(archive.paths, dir.file("j"), cdxj, plain));
  ASSERT_TRUE(write_index(archive.paths, dir.file("c"), cdx11, plain));
  const auto refused = [&](const std::vector<std::string>& files, const char* words) {
    const auto merged = merge_indexes(files, out, plain);
    ASSERT_FALSE(merged) << words;
    EXPECT_EQ(merged.error().code, ErrorCode::invalid_input);
    EXPECT_NE(merged.error().message.find(words), std::string::npos) << merged.error().message;
    EXPECT_FALSE(fs::exists(out));
    EXPECT_FALSE(fs::exists(out + ".work"));
  };
  refused({dir.file("j"), dir.file("c")}, "another form");
  refused({dir.file("none")}, "none");
  std::ofstream(dir.file("text")) << "hello\n";
  refused({dir.file("text")}, "'hello'");
  std::ofstream(dir.file("long")) << "a 1 {" << std::string(70'000, 'x') << "}\n";
  refused({dir.file("long")}, "more than");
  ASSERT_TRUE(write_index(archive.paths, dir.file("z.idx"), cdxj, zipnum));
  const std::string blocks = test::read_file(dir.file("z.cdx.gz"));
  std::ofstream(dir.file("cut.gz"), std::ios::binary) << blocks.substr(0, blocks.size() - 20);
  refused({dir.file("cut.gz")}, "damaged");
  EXPECT_EQ(merge_indexes({dir.file("j")}, dir.file("x.cdx"), zipnum).error().code, ErrorCode::invalid_input);
}

TEST(IndexFile, MissingInputAndUnwritableOutputAreErrors) {
  const TempDir dir;
  EXPECT_EQ(write_index({dir.file("none.warc.gz")}, dir.file("x"), cdxj, plain).error().code, ErrorCode::io);
  EXPECT_FALSE(fs::exists(dir.file("x")));
  EXPECT_EQ(write_index({}, dir.file("none/x"), cdxj, plain).error().code, ErrorCode::io);
  const auto empty = write_index({}, dir.file("x"), cdxj, plain);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->captures, 0u);
  EXPECT_TRUE(fs::exists(dir.file("x")));
}

TEST(IndexFile, FilesOfOtherTools) {
  if (!test::suite_exists("warc/warcio")) GTEST_SKIP() << "set ORBWEAVER_SUITES";
  const TempDir dir;
  const std::vector<std::string> paths{suite_path("warc/wget-reference.warc.gz"),
                                       suite_path("warc/stormcrawler-test.warc.gz"),
                                       suite_path("warc/mutants/18-truncated-gzip.warc.gz")};
  const auto written = write_index(paths, dir.file("x"), cdxj, plain);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_GE(written->captures, 20u);
}

}  // namespace
}  // namespace orbweaver::archive
