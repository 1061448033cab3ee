// The link trace: pages are read back as written, files rotate within their bound, torn tails are cut. Files that are
// empty, cut short, foreign or newer are reported with name and offset.
#include "storage/link_trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "storage/link_trace_block.h"
#include "tests/unit/suites.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::storage {
namespace {

using test::read_file;
using test::TempDir;

TracePage page_of(std::mt19937_64& random, std::size_t max_links) {
  TracePage page;
  page.url = "http://h" + std::to_string(random() % 50) + ".example/p/" + std::to_string(random() % 10'000);
  page.at = Time(Duration(1'700'000'000'000'000 + static_cast<std::int64_t>(random() % 1'000'000'000)));
  page.depth = static_cast<std::uint16_t>(random());
  page.worker = static_cast<std::uint16_t>(random() % 7);
  const std::size_t links = random() % (max_links + 1);
  for (std::size_t i = 0; i < links; ++i)
    page.links.push_back({"http://h" + std::to_string(random() % 50) + ".example/" + std::to_string(random()),
                          static_cast<std::uint8_t>(random() % 16)});
  return page;
}

LinkTraceConfig config_in(const TempDir& dir, std::uint64_t max_bytes = 64u << 20) {
  return {dir.file("links"), "ow", max_bytes, {{"peer", "0011"}, {"partitions", "1024"}}};
}

LinkTraceWriter open_writer(const LinkTraceConfig& config) {
  auto writer = LinkTraceWriter::open(config);
  EXPECT_TRUE(writer) << writer.error().message;
  return std::move(*writer);
}

// All pages of the files, or the error.
Result<std::vector<TracePage>> read_all(const std::vector<std::string>& paths) {
  std::vector<TracePage> pages;
  const auto files = link_trace_files(paths);
  if (!files) return tl::make_unexpected(files.error());
  for (const std::string& file : *files) {
    auto reader = LinkTraceReader::open(file);
    if (!reader) return tl::make_unexpected(reader.error());
    TracePage page;
    for (;;) {
      const auto more = reader->next(page);
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) break;
      // A page that spans two files.
      const bool goes_on = !pages.empty() && pages.back().at == page.at && pages.back().url == page.url;
      if (goes_on) pages.back().links.insert(pages.back().links.end(), page.links.begin(), page.links.end());
      if (!goes_on) pages.push_back(page);
    }
  }
  return pages;
}

std::string error_of_reading(const std::string& path) {
  const auto pages = read_all({path});
  return pages ? std::string() : pages.error().message;
}

TEST(LinkTrace, WhatIsWrittenIsReadBack) {
  const TempDir dir;
  std::mt19937_64 random(7);
  std::vector<TracePage> written;
  for (int run = 0; run < 3; ++run) {  // the next run appends to the same file
    LinkTraceWriter writer = open_writer(config_in(dir));
    for (int i = 0; i < 300; ++i) {
      written.push_back(page_of(random, i == 100 ? 60'000 : 60));  // one page over many blocks
      ASSERT_TRUE(writer.add(written.back()));
    }
    EXPECT_EQ(writer.pages(), 300u);
    ASSERT_TRUE(writer.close());
  }
  const auto read = read_all({dir.file("links")});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, written);
  EXPECT_EQ(link_trace_files({dir.file("links")})->size(), 1u);
  const auto reader = LinkTraceReader::open(link_trace_files({dir.path()})->front());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->facts().at("partitions"), "1024");
}

TEST(LinkTrace, OtherFactsBeginAnotherFile) {
  const TempDir dir;
  std::mt19937_64 random(3);
  for (const char* partitions : {"1024", "64", "64"}) {
    LinkTraceConfig config = config_in(dir);
    config.facts["partitions"] = partitions;
    LinkTraceWriter writer = open_writer(config);
    ASSERT_TRUE(writer.add(page_of(random, 3)));
    ASSERT_TRUE(writer.close());
  }
  EXPECT_EQ(link_trace_files({dir.path()})->size(), 2u);
  EXPECT_EQ(read_all({dir.path()})->size(), 3u);
}

TEST(LinkTrace, TheOldestFilesMakeRoomWithinTheBound) {
  const TempDir dir;
  std::mt19937_64 random(5);
  std::vector<TracePage> written;
  std::uint64_t removed = 0;
  for (int run = 0; run < 4; ++run) {
    LinkTraceWriter writer = open_writer(config_in(dir, trace_bytes_least));
    for (int i = 0; i < 2000; ++i) {
      written.push_back(page_of(random, 200));
      ASSERT_TRUE(writer.add(written.back()));
      ASSERT_LE(writer.bytes(), trace_bytes_least);
    }
    ASSERT_TRUE(writer.close());
    removed += writer.files_removed();
  }
  EXPECT_GT(removed, 0u);
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.file("links"))) bytes += entry.file_size();
  EXPECT_LE(bytes, trace_bytes_least);
  EXPECT_GT(bytes, trace_bytes_least / 2);
  // The rest is the end of the trace, without a gap; the page at the start of its first file may lack links.
  const auto read = read_all({dir.path()});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_LT(read->size(), written.size());
  EXPECT_TRUE(
      std::equal(read->begin() + 1, read->end(), written.end() - static_cast<std::ptrdiff_t>(read->size()) + 1));
}

TEST(LinkTrace, ATornTailIsToldByTheReaderAndCutByTheWriter) {
  const TempDir dir;
  std::mt19937_64 random(11);
  std::vector<TracePage> written;
  std::vector<std::uint64_t> ends;
  LinkTraceWriter writer = open_writer(config_in(dir));
  for (int i = 0; i < 3; ++i) {
    written.push_back(page_of(random, 20));
    ASSERT_TRUE(writer.add(written.back()));
    ASSERT_TRUE(writer.flush());
    ends.push_back(writer.bytes());
  }
  ASSERT_TRUE(writer.close());
  const std::string path = link_trace_files({dir.path()})->front();
  const std::string whole = read_file(path);
  for (std::size_t size = whole.size() - 1; size > ends[1]; --size) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const std::string reported = error_of_reading(path);
    EXPECT_NE(reported.find(path + ", byte " + std::to_string(ends[1])), std::string::npos) << reported;
    LinkTraceWriter again = open_writer(config_in(dir));
    EXPECT_EQ(again.bytes(), ends[1]) << size;
  }
  LinkTraceWriter again = open_writer(config_in(dir));
  ASSERT_TRUE(again.add(written[2]));
  ASSERT_TRUE(again.close());
  EXPECT_EQ(*read_all({path}), written);
}

TEST(LinkTrace, ATornHeadIsMended) {
  const TempDir dir;
  { ASSERT_TRUE(open_writer(config_in(dir)).close()); }
  std::mt19937_64 random(2);
  const std::string path = dir.file("links/ow-00000.links");
  const std::string head = encode_trace_head(config_in(dir).facts);
  for (std::size_t size = 0; size < head.size(); ++size) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << head.substr(0, size);
    EXPECT_NE(error_of_reading(path).find(path), std::string::npos);
    LinkTraceWriter writer = open_writer(config_in(dir));
    ASSERT_TRUE(writer.add(page_of(random, 3)));
    ASSERT_TRUE(writer.close());
    EXPECT_EQ(read_all({path})->size(), 1u);
  }
}

TEST(LinkTrace, FilesThatAreNoneAreTold) {
  const TempDir dir;
  const auto reported = [&](const std::string& bytes) {
    std::ofstream(dir.file("a.links"), std::ios::binary | std::ios::trunc) << bytes;
    return error_of_reading(dir.file("a.links"));
  };
  EXPECT_NE(reported("").find("a.links is empty"), std::string::npos);
  EXPECT_NE(reported("WARC/1.1\r\nnot this").find("a.links is no link trace"), std::string::npos);
  EXPECT_NE(reported(std::string("OWLT\x02\0\0", 7)).find("of version 2; this build reads 1"), std::string::npos);
  EXPECT_NE(reported("OWLT\x01").find("ends within its head, at byte 5"), std::string::npos);
  EXPECT_NE(error_of_reading(dir.file("none")).find("none is not there"), std::string::npos);
  std::filesystem::create_directory(dir.file("bare"));
  EXPECT_NE(error_of_reading(dir.file("bare")).find("no link trace (*.links) in"), std::string::npos);
  std::filesystem::create_directory(dir.file("links"));
  std::ofstream(dir.file("links/ow-00000.links"), std::ios::binary) << std::string("OWLT\x02\0\0", 7);
  const auto writer = LinkTraceWriter::open(config_in(dir));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, ErrorKind::version);
}

// Any one byte changed: an error or other pages; never a crash, never an endless loop.
TEST(LinkTrace, SpoiltBytesAreTold) {
  const TempDir dir;
  std::mt19937_64 random(13);
  LinkTraceWriter writer = open_writer(config_in(dir));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer.add(page_of(random, 5)));
  ASSERT_TRUE(writer.close());
  const std::string path = link_trace_files({dir.path()})->front();
  const std::string whole = read_file(path);
  const std::size_t head = encode_trace_head(config_in(dir).facts).size();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string spoilt = whole;
    spoilt[at] = static_cast<char>(spoilt[at] ^ 0x15);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << spoilt;
    const bool counts_only = at >= head + 8 && at < head + 16;  // pages and links of a block: stored, not needed
    if (at >= head && !counts_only) {
      EXPECT_NE(error_of_reading(path), "") << at;
    } else {
      (void)error_of_reading(path);
    }
  }
}

TEST(LinkTrace, VarintsAreReadAsWritten) {
  for (const std::uint64_t value : {0ULL, 1ULL, 127ULL, 128ULL, 300ULL, 1ULL << 62, ~0ULL}) {
    std::string bytes;
    put_varint(bytes, value);
    std::size_t at = 0;
    std::uint64_t read = 0;
    ASSERT_TRUE(get_varint(bytes, at, read));
    EXPECT_EQ(read, value);
    EXPECT_EQ(at, bytes.size());
    at = 0;
    EXPECT_FALSE(get_varint(std::string_view(bytes).substr(0, bytes.size() - 1), at, read));
  }
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{5}, INT64_MIN, INT64_MAX})
    EXPECT_EQ(unzigzag(zigzag(value)), value);
  std::size_t at = 0;
  std::uint64_t read = 0;
  EXPECT_FALSE(get_varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", at, read));
}

}  // namespace
}  // namespace orbweaver::storage
