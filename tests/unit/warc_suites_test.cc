// WARC files of other tools, and 21 mutants of a valid one: each is read to its end, with records or errors that name
// an offset.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>

#include "storage/warc.h"
#include "storage/warc_scan.h"
#include "tests/unit/suites.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::storage {
namespace {

namespace fs = std::filesystem;
using test::suite_path;

#define NEEDS_SUITE(name) \
  if (!test::suite_exists(name)) GTEST_SKIP() << "no " << suite_path(name) << " (set ORBWEAVER_SUITES)"

struct Count {
  int records = 0;
  int errors = 0;
  friend bool operator==(const Count&, const Count&) = default;
};
std::ostream& operator<<(std::ostream& out, const Count& c) {
  return out << c.records << " records, " << c.errors << " errors";
}

Count count(const std::string& path) {
  Count counted;
  auto reader = WarcReader::open(path);
  EXPECT_TRUE(reader);
  WarcRecord record;
  for (int guard = 0; reader && guard < 100'000; ++guard) {
    const auto found = (*reader)->next(record);
    if (!found) {
      EXPECT_NE(found.error().message.find("offset"), std::string::npos) << found.error().message;
      ++counted.errors;
    } else if (*found) {
      ++counted.records;
    } else {
      return counted;
    }
  }
  ADD_FAILURE() << path << ": the reader does not end";
  return counted;
}

TEST(WarcSuites, MutantsGiveRecordsOrErrors) {
  NEEDS_SUITE("warc/mutants");
  // Damage to framing is an error. A wrong digest, date, id or type is for a validator: the record is still read.
  const std::map<std::string, Count> differ{
      {"02-content-length-plus1.warc.gz", {11, 1}}, {"03-content-length-minus1.warc.gz", {11, 1}},
      {"15-version-2.0.warc.gz", {11, 1}},          {"18-truncated-gzip.warc.gz", {11, 1}},
      {"19-garbage-tail.warc.gz", {12, 1}},         {"20-http-content-length-mismatch.warc.gz", {11, 1}}};
  int files = 0;
  for (const auto& entry : fs::directory_iterator(suite_path("warc/mutants"))) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".gz")) continue;
    ++files;
    const auto known = differ.find(name);
    EXPECT_EQ(count(entry.path().string()), (known == differ.end() ? Count{12, 0} : known->second)) << name;
  }
  EXPECT_EQ(files, 21);
}

TEST(WarcSuites, OtherTools_ReadOrRefused) {
  NEEDS_SUITE("warc/warcio");
  const std::map<std::string, Count> expected{
      {"cc.warc.gz", {1, 0}},
      {"gzip_extra_sl.warc.gz", {1, 0}},
      {"stormcrawler-test.warc.gz", {42, 0}},
      {"stormcrawler-unparsable-date.warc.gz", {3, 0}},
      {"wget-reference.warc.gz", {12, 0}},
      {"warcio/bad.arc", {0, 1}},  // ARC is not WARC
      {"warcio/example-bad-non-chunked.warc.gz", {6, 0}},
      {"warcio/example-bad.warc.gz.bad", {6, 0}},
      {"warcio/example-digest.warc", {4, 0}},
      {"warcio/example-iana.org-chunked.warc", {3, 0}},
      {"warcio/example-resource.warc.gz", {3, 0}},
      {"warcio/example-space-in-target-uri.warc.gz", {2, 0}},
      {"warcio/example-space-in-url.arc", {0, 1}},
      {"warcio/example-trunc.warc", {3, 1}},
      {"warcio/example-wget-bad-target-uri.warc.gz", {6, 0}},
      {"warcio/example-wrong-chunks.warc.gz", {0, 3}},  // records that span several members
      {"warcio/example.arc", {0, 1}},
      {"warcio/example.arc.gz", {0, 2}},
      {"warcio/example.warc", {6, 0}},
      {"warcio/example.warc.gz", {6, 0}},
      {"warcio/post-test.warc.gz", {6, 0}}};
  for (const auto& [name, want] : expected) EXPECT_EQ(count(suite_path("warc/" + name)), want) << name;
}

TEST(WarcSuites, MutantsAreCutToTheirLastWholeRecord) {
  NEEDS_SUITE("warc/mutants");
  const test::TempDir dir;
  const std::map<std::string, Count> expected{{"18-truncated-gzip", {11, 0}}, {"19-garbage-tail", {12, 0}}};
  for (const auto& [name, want] : expected) {
    const std::string copy = dir.file(name);
    std::ofstream(copy, std::ios::binary) << test::read_file(suite_path("warc/mutants/" + name + ".warc.gz"));
    const auto repaired = repair_warc(copy);
    ASSERT_TRUE(repaired) << repaired.error().message;
    EXPECT_EQ(repaired->records, static_cast<std::uint64_t>(want.records));
    EXPECT_GT(repaired->bytes_cut, 0u);
    EXPECT_EQ(count(copy), want) << name;
    EXPECT_EQ(repair_warc(copy)->bytes_cut, 0u);
  }
}

// Bytes of real files changed, cut and doubled at random: the scan ends, and in time.
TEST(WarcSuites, RandomDamageIsBorne) {
  NEEDS_SUITE("warc/mutants");
  std::mt19937 random(5);
  const std::vector<std::string> sources{test::read_file(suite_path("warc/mutants/00-valid.warc.gz")),
                                         test::read_file(suite_path("warc/mutants/17-one-gzip-member.warc.gz")),
                                         test::read_file(suite_path("warc/warcio/example.warc"))};
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = sources[random() % sources.size()];
    for (auto hits = random() % 6; hits > 0; --hits) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 3 == 0) bytes.resize(random() % bytes.size());
    if (random() % 5 == 0) bytes.insert(random() % (bytes.size() + 1), bytes.substr(0, random() % (bytes.size() + 1)));
    WarcScan scan(
        [&bytes](std::uint64_t offset, char* to, std::uint64_t wanted) -> Result<std::uint64_t> {
          return offset >= bytes.size() ? 0 : bytes.copy(to, wanted, offset);
        },
        "memory", bytes.size());
    ScannedRecord record;
    std::size_t calls = 0;
    for (auto found = scan.next(record, 1 << 20); !found || *found; found = scan.next(record, 1 << 20)) {
      ASSERT_LE(++calls, bytes.size()) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace orbweaver::storage
