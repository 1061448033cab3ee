// Our own WARC files: the writer's output, the state after a crash, the result of the repair.
#include "storage/warc.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "storage/sha1.h"
#include "storage/warc_repair.h"
#include "tests/unit/suites.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::storage {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

Time at_second(int seconds) {
  return Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 2)) + std::chrono::seconds(seconds) +
         Duration(678901);
}

std::string noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

const std::string request_head = "GET /a HTTP/1.1\r\nHost: example.org\r\n\r\n";
const std::string response_head = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n";

WarcExchange page(std::string_view uri, std::string_view body) {
  WarcExchange e;
  e.target_uri = uri;
  e.started = at_second(0);
  e.ip = "192.0.2.1";
  e.request_head = request_head;
  e.response_head = response_head;
  e.body = body;
  e.payload = body;
  return e;
}

WarcConfig config_in(const TempDir& dir, std::string prefix = "ow-c-p-0") {
  WarcConfig config;
  config.directory = dir.file("warc");
  config.name_prefix = std::move(prefix);
  config.info = {{"software", "orbweaver/0.1"}, {"format", "WARC File Format 1.1"}, {"bad\r\nname", "a\nb"}};
  return config;
}

std::unique_ptr<WarcWriter> open_writer(const WarcConfig& config) {
  auto writer = WarcWriter::open(config);
  EXPECT_TRUE(writer) << writer.error().message;
  return writer ? std::move(*writer) : nullptr;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

struct ReadBack {
  std::vector<WarcRecord> records;
  std::vector<std::string> errors;
};

ReadBack read_all(const std::string& path) {
  ReadBack back;
  auto reader = WarcReader::open(path);
  EXPECT_TRUE(reader) << reader.error().message;
  for (int guard = 0; reader && guard < 100'000; ++guard) {
    WarcRecord record;
    const auto found = (*reader)->next(record);
    if (!found)
      back.errors.push_back(found.error().message);
    else if (*found)
      back.records.push_back(std::move(record));
    else
      return back;
  }
  ADD_FAILURE() << path << ": the reader does not end";
  return back;
}

// 'h' in the form is a hex digit, 'v' one of 8, 9, a, b (a UUID's variant); other characters are themselves. "urn" and
// "uuid" contain neither.
bool looks_like(std::string_view form, std::string_view text) {
  const auto fits = [](char want, char got) {
    if (want == 'h') return std::string_view("0123456789abcdef").find(got) != std::string_view::npos;
    if (want == 'v') return std::string_view("89ab").find(got) != std::string_view::npos;
    return want == got;
  };
  return std::equal(form.begin(), form.end(), text.begin(), text.end(), fits);
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(Sha1, Rfc3174_Vectors) {
  EXPECT_EQ(sha1_label({"abc"}), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
  EXPECT_EQ(sha1_label({"a", "", "bc"}), sha1_label({"abc"}));
  EXPECT_EQ(sha1_label({}), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
}

TEST(WarcWriter, ChecklistW01ToW14_RecordsAreAsTheStandardAsks) {
  const TempDir dir;
  auto writer = open_writer(config_in(dir));
  const auto where = writer->write(page("http://example.org/a", "<p>hello</p>"), at_second(1));
  ASSERT_TRUE(where) << where.error().message;
  EXPECT_EQ(where->file, "ow-c-p-0-20260102000001-00000.warc.gz");
  EXPECT_EQ(names_in(dir.file("warc")), std::vector<std::string>{where->file + ".open"});
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(names_in(dir.file("warc")), std::vector<std::string>{where->file});

  const ReadBack back = read_all(dir.file("warc/" + where->file));
  ASSERT_EQ(back.errors, std::vector<std::string>{});
  ASSERT_EQ(back.records.size(), 3u);
  const WarcRecord& info = back.records[0];
  const WarcRecord& response = back.records[1];
  const WarcRecord& request = back.records[2];

  EXPECT_EQ(info.field("WARC-Type"), "warcinfo");
  EXPECT_EQ(info.field("WARC-Filename"), where->file);
  EXPECT_EQ(info.field("Content-Type"), "application/warc-fields");
  EXPECT_EQ(info.block, "software: orbweaver/0.1\r\nformat: WARC File Format 1.1\r\nbad  name: a b\r\n");
  EXPECT_EQ(info.field("WARC-Date"), "2026-01-02T00:00:01.678901Z");

  EXPECT_EQ(response.field("WARC-Type"), "response");
  EXPECT_EQ(response.field("WARC-Target-URI"), "http://example.org/a");
  EXPECT_EQ(response.field("WARC-Date"), "2026-01-02T00:00:00.678901Z");
  EXPECT_EQ(response.field("WARC-IP-Address"), "192.0.2.1");
  EXPECT_EQ(response.field("WARC-Warcinfo-ID"), info.field("WARC-Record-ID"));
  EXPECT_EQ(response.field("Content-Type"), "application/http; msgtype=response");
  EXPECT_EQ(response.block, response_head + "<p>hello</p>");
  EXPECT_EQ(response.field("WARC-Block-Digest"), sha1_label({response.block}));
  EXPECT_EQ(response.field("WARC-Payload-Digest"), sha1_label({"<p>hello</p>"}));
  EXPECT_EQ(response.field("WARC-Truncated"), "");
  EXPECT_EQ(response.offset, where->offset);
  EXPECT_EQ(response.length, where->length);

  EXPECT_EQ(request.field("WARC-Type"), "request");
  EXPECT_EQ(request.field("WARC-Concurrent-To"), response.field("WARC-Record-ID"));
  EXPECT_EQ(request.field("WARC-Warcinfo-ID"), info.field("WARC-Record-ID"));
  EXPECT_EQ(request.field("WARC-Target-URI"), "http://example.org/a");
  EXPECT_EQ(request.field("Content-Type"), "application/http; msgtype=request");
  EXPECT_EQ(request.block, request_head);
  EXPECT_EQ(request.field("WARC-Block-Digest"), sha1_label({request_head}));

  for (const WarcRecord& record : back.records) {
    EXPECT_TRUE(looks_like("<urn:uuid:hhhhhhhh-hhhh-4hhh-vhhh-hhhhhhhhhhhh>", record.field("WARC-Record-ID")))
        << record.field("WARC-Record-ID");
  }
}

TEST(WarcWriter, ChecklistW03_HostileTextAddsNoFields) {
  const TempDir dir;
  auto writer = open_writer(config_in(dir));
  WarcExchange e = page("http://e/<a b>\r\nEvil: 1\xC3\xBC", "x");
  e.ip = "1.2.3.4\r\nEvil: 2";
  e.truncated = "length\r\nEvil: 3";
  const auto where = writer->write(e, at_second(0));
  ASSERT_TRUE(where && writer->close());
  const ReadBack back = read_all(dir.file("warc/" + where->file));
  ASSERT_EQ(back.records.size(), 3u);
  const WarcRecord& response = back.records[1];
  EXPECT_EQ(response.field("WARC-Target-URI"), "http://e/%3Ca%20b%3E%0D%0AEvil:%201%C3%BC");
  EXPECT_EQ(response.field("Evil"), "");
  EXPECT_EQ(response.field("WARC-IP-Address"), "");
  EXPECT_EQ(response.field("WARC-Truncated"), "unspecified");
}

TEST(WarcWriter, ChecklistW11_TruncationIsRecorded) {
  const TempDir dir;
  auto writer = open_writer(config_in(dir));
  WarcExchange e = page("http://e/", "x");
  e.truncated = "disconnect";
  e.request_head = {};
  const auto where = writer->write(e, at_second(0));
  ASSERT_TRUE(where && writer->close());
  const ReadBack back = read_all(dir.file("warc/" + where->file));
  ASSERT_EQ(back.records.size(), 2u);  // no request head: no request record
  EXPECT_EQ(back.records[1].field("WARC-Truncated"), "disconnect");
}

TEST(WarcWriter, ChecklistW04_W16_FilesRotateAndIdsAreUnique) {
  const TempDir dir;
  WarcConfig config = config_in(dir);
  config.file_bytes = 5000;
  std::set<std::string> ids;
  std::uint64_t written = 0;
  for (int run = 0; run < 2; ++run) {
    auto writer = open_writer(config);
    for (int i = 0; i < 20; ++i) {
      const std::string body = noise(1000, static_cast<unsigned>(i));
      ASSERT_TRUE(writer->write(page("http://e/" + std::to_string(i), body), at_second(0)));
    }
    written += writer->bytes_written();
    ASSERT_TRUE(writer->close());
  }
  std::size_t records = 0;
  std::uint64_t bytes = 0;
  const auto names = names_in(config.directory);
  EXPECT_GE(names.size(), 8u);
  for (const std::string& name : names) {
    const std::string path = config.directory + "/" + name;
    bytes += fs::file_size(path);
    EXPECT_LT(fs::file_size(path), 8000u);
    const ReadBack back = read_all(path);
    EXPECT_TRUE(back.errors.empty());
    ASSERT_FALSE(back.records.empty());
    EXPECT_EQ(back.records[0].field("WARC-Type"), "warcinfo");
    EXPECT_EQ(back.records[0].field("WARC-Filename"), name);
    for (const WarcRecord& record : back.records) {
      EXPECT_TRUE(ids.insert(std::string(record.field("WARC-Record-ID"))).second);
      ++records;
    }
  }
  EXPECT_EQ(records, 80 + names.size());
  EXPECT_EQ(bytes, written);
}

TEST(WarcWriter, NothingWrittenLeavesNoFile) {
  const TempDir dir;
  auto writer = open_writer(config_in(dir));
  ASSERT_TRUE(writer->close());
  EXPECT_TRUE(names_in(dir.file("warc")).empty());
}

TEST(WarcWriter, AFileThatIsThereIsNeverOverwritten) {
  const TempDir dir;
  fs::create_directories(dir.file("warc"));
  write_file(dir.file("warc/ow-c-p-0-20260102000000-00000.warc.gz"), "precious");
  auto writer = open_writer(config_in(dir));
  const auto where = writer->write(page("http://e/", "x"), at_second(0));
  ASSERT_TRUE(where);
  EXPECT_EQ(where->file, "ow-c-p-0-20260102000000-00001.warc.gz");
  EXPECT_EQ(test::read_file(dir.file("warc/ow-c-p-0-20260102000000-00000.warc.gz")), "precious");
}

TEST(WarcWriter, LeftOpenFilesAreRepairedAndRenamed) {
  const TempDir dir;
  const WarcConfig config = config_in(dir);
  auto writer = open_writer(config);
  const auto where = writer->write(page("http://e/", "x"), at_second(0));
  ASSERT_TRUE(where && writer->close());
  const std::string whole = test::read_file(dir.file("warc/" + where->file));
  fs::remove(dir.file("warc/" + where->file));
  const std::string stem = dir.file("warc/ow-c-p-0-20260101000000-0000");
  write_file(stem + "1.warc.gz.open", whole + whole.substr(0, whole.size() / 2));  // torn in its second half
  write_file(stem + "2.warc.gz.open", "");                                         // empty
  write_file(stem + "3.warc.gz.open", whole.substr(0, where->offset + 3));         // only a warcinfo
  write_file(dir.file("warc/ow-c-p-0-1-20260101000000-00001.warc.gz.open"), "another's");
  write_file(dir.file("warc/notes.open"), "another's");
  writer = open_writer(config);
  EXPECT_EQ(names_in(config.directory),
            (std::vector<std::string>{"notes.open", "ow-c-p-0-1-20260101000000-00001.warc.gz.open",
                                      "ow-c-p-0-20260101000000-00001.warc.gz"}));
  const ReadBack back = read_all(stem + "1.warc.gz");
  EXPECT_TRUE(back.errors.empty());
  EXPECT_GE(back.records.size(), 3u);
}

TEST(WarcWriter, ACrashBetweenLinkAndUnlinkIsMended) {
  const TempDir dir;
  auto writer = open_writer(config_in(dir));
  const auto where = writer->write(page("http://e/", "x"), at_second(0));
  ASSERT_TRUE(where && writer->close());
  const std::string path = dir.file("warc/" + where->file);
  fs::create_hard_link(path, path + ".open");
  writer = open_writer(config_in(dir));
  EXPECT_EQ(names_in(dir.file("warc")), std::vector<std::string>{where->file});
}

TEST(WarcWriter, AFileAnotherProcessWritesIsNotTouched) {
  const TempDir dir;
  const WarcConfig config = config_in(dir);
  auto first = open_writer(config);
  ASSERT_TRUE(first->write(page("http://e/", "x"), at_second(0)));
  const auto second = WarcWriter::open(config);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::in_use);
  EXPECT_NE(second.error().message.find(".open"), std::string::npos);
  ASSERT_TRUE(first->write(page("http://e/2", "y"), at_second(0)));
  ASSERT_TRUE(first->close());
  EXPECT_TRUE(WarcWriter::open(config));
}

TEST(WarcWriter, UnwritableDirectoryIsNamed) {
  const TempDir dir;
  write_file(dir.file("warc"), "a file");
  const auto writer = WarcWriter::open(config_in(dir));
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find(dir.file("warc")), std::string::npos);
}

// A limit on the file size makes write(2) stop in the middle, as a full disk does.
TEST(WarcWriter, FailedWriteIsCutBackAndTheNextOneWorks) {
  const TempDir dir;
  auto writer = open_writer(config_in(dir));
  const auto first = writer->write(page("http://e/1", "small"), at_second(0));
  ASSERT_TRUE(first);
  const std::string path = dir.file("warc/" + first->file);
  const auto size = fs::file_size(path + ".open");

  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit tight = before;
  tight.rlim_cur = size + 4096;
  auto* old_handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto failed = writer->write(page("http://e/2", noise(100'000, 1)), at_second(0));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old_handler);

  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find(path), std::string::npos);
  EXPECT_EQ(fs::file_size(path + ".open"), size);
  const auto third = writer->write(page("http://e/3", "after"), at_second(0));
  ASSERT_TRUE(third && writer->close());
  EXPECT_EQ(third->offset, size);
  const ReadBack back = read_all(path);
  EXPECT_TRUE(back.errors.empty());
  ASSERT_EQ(back.records.size(), 5u);
  EXPECT_EQ(back.records[3].field("WARC-Target-URI"), "http://e/3");
}

// Twenty-one records, some of which contain an archived WARC file whose bytes look like whole records; cut at every
// byte: exactly the records that ended before the cut are kept.
TEST(WarcRepair, ChecklistW15_CutAnywhereKeepsExactlyTheWholeRecords) {
  const TempDir dir;
  const auto sample = open_writer(config_in(dir, "inner"));
  const auto inner = sample->write(page("http://inner/", noise(700, 9)), at_second(0));
  ASSERT_TRUE(inner && sample->close());
  const std::string archive = test::read_file(dir.file("warc/" + inner->file));

  auto writer = open_writer(config_in(dir, "outer"));
  std::string name;
  for (unsigned i = 0; i < 10; ++i) {
    const std::string body = i % 3 == 2 ? archive + noise(500, i) : i % 3 == 1 ? std::string(i * 100, 'x') : "";
    const auto where = writer->write(page("http://e/" + std::to_string(i), body), at_second(0));
    ASSERT_TRUE(where);
    name = where->file;
  }
  ASSERT_TRUE(writer->close());
  const std::string whole = test::read_file(dir.file("warc/" + name));
  const ReadBack all = read_all(dir.file("warc/" + name));
  ASSERT_EQ(all.records.size(), 21u);

  const std::string cut_file = dir.file("cut.warc.gz");
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    write_file(cut_file, whole.substr(0, cut));
    auto file =
        AppendFile::open_existing(cut_file);  // not repair_warc, which would only add its thousands of fsync calls
    ASSERT_TRUE(file);
    const auto repaired = repair_open_warc(*file);
    ASSERT_TRUE(repaired) << repaired.error().message;
    std::uint64_t end = 0;
    std::uint64_t records = 0;
    for (const WarcRecord& record : all.records) {
      if (record.offset + record.length > cut) break;
      end = record.offset + record.length;
      ++records;
    }
    ASSERT_EQ(repaired->done.records, records) << "cut at " << cut;
    ASSERT_EQ(repaired->done.bytes_cut, cut - end) << "cut at " << cut;
    ASSERT_EQ(test::read_file(cut_file), whole.substr(0, end)) << "cut at " << cut;
  }
}

TEST(WarcRepair, ZerosAfterAPowerCutAreCut) {
  const TempDir dir;
  auto writer = open_writer(config_in(dir));
  const auto where = writer->write(page("http://e/", noise(3000, 3)), at_second(0));
  ASSERT_TRUE(where && writer->close());
  const std::string path = dir.file("warc/" + where->file);
  const std::string whole = test::read_file(path);
  for (const std::size_t from : {whole.size(), static_cast<std::size_t>(where->offset) + 1000}) {
    write_file(path, whole.substr(0, from) + std::string(5000, '\0'));
    const auto repaired = repair_warc(path);
    ASSERT_TRUE(repaired);
    EXPECT_EQ(repaired->records, from == whole.size() ? 3u : 1u);
    EXPECT_EQ(fs::file_size(path), from == whole.size() ? whole.size() : where->offset);
  }
}

TEST(WarcRepair, DamageBeforeWholeRecordsIsKept) {
  const TempDir dir;
  auto writer = open_writer(config_in(dir));
  const auto first = writer->write(page("http://e/1", noise(3000, 3)), at_second(0));
  ASSERT_TRUE(first && writer->write(page("http://e/2", "x"), at_second(0)) && writer->close());
  const std::string path = dir.file("warc/" + first->file);
  std::string bytes = test::read_file(path);
  bytes[first->offset + 1500] = static_cast<char>(bytes[first->offset + 1500] ^ 0x55);
  write_file(path, bytes);
  const auto repaired = repair_warc(path);
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->records, 4u);
  EXPECT_EQ(repaired->bytes_cut, 0u);
  const ReadBack back = read_all(path);
  EXPECT_EQ(back.records.size(), 4u);
  EXPECT_EQ(back.errors.size(), 1u);
}

TEST(WarcRepair, ALockedFileIsInUse) {
  const TempDir dir;
  write_file(dir.file("x.warc.gz"), "x");
  const int fd = ::open(dir.file("x.warc.gz").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  const auto repaired = repair_warc(dir.file("x.warc.gz"));
  ::close(fd);
  ASSERT_FALSE(repaired);
  EXPECT_EQ(repaired.error().kind, ErrorKind::in_use);
  EXPECT_EQ(test::read_file(dir.file("x.warc.gz")), "x");
}

TEST(WarcReader, BlocksAboveTheLimitAreErrorsAndTheRestIsRead) {
  const TempDir dir;
  auto writer = open_writer(config_in(dir));
  const auto first = writer->write(page("http://e/1", std::string(50'000'000, 'x')), at_second(0));
  ASSERT_TRUE(first && writer->write(page("http://e/2", "x"), at_second(0)) && writer->close());
  auto reader = WarcReader::open(dir.file("warc/" + first->file), 1000);
  ASSERT_TRUE(reader);
  WarcRecord record;
  int records = 0;
  int errors = 0;
  for (auto found = (*reader)->next(record); !found || *found; found = (*reader)->next(record))
    ++(found ? records : errors);
  EXPECT_EQ(records, 4);
  EXPECT_EQ(errors, 1);
}

TEST(WarcReader, MissingFilesAndDirectoriesAreNamed) {
  for (const char* path : {"no/such/file.warc.gz", "/"}) {
    const auto reader = WarcReader::open(path);
    ASSERT_FALSE(reader);
    EXPECT_NE(reader.error().message.find(path), std::string::npos);
  }
}

TEST(WarcReader, PlainFilesWithLyingLengthsEndQuickly) {
  const TempDir dir;
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) bytes += "WARC/1.1\r\nContent-Length: " + std::to_string(500'000 - i) + "\r\n\r\n";
  write_file(dir.file("x.warc"), bytes);
  const auto begin = std::chrono::steady_clock::now();
  const ReadBack back = read_all(dir.file("x.warc"));
  EXPECT_GE(back.errors.size(), 5000u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace orbweaver::storage
