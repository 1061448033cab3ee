// The structures of `orbweaver lab dedup` against std::set, over restarts, and the experiment around them.
#include "node/lab/dedup/dedup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "node/lab/dedup/disk_use.h"
#include "node/lab/dedup/generalized_list_set.h"
#include "node/lab/dedup/segmented_bitmap.h"
#include "ring/md5.h"
#include "storage/link_trace.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

class DedupStructure : public testing::TestWithParam<const UrlSetKind*> {
 protected:
  UrlSetPlan plan() const {
    UrlSetPlan made;
    made.directory = directory_.path();
    made.urls = 4000;
    made.url_bytes = 4000 * 60;
    made.cache_entries = 64;
    return made;
  }
  std::unique_ptr<UrlSet> open() {
    auto set = GetParam()->open(plan());
    EXPECT_TRUE(set) << set.error().message;
    return set ? std::move(*set) : nullptr;
  }
  bool is(const char* name) const { return GetParam()->name == name; }
  bool persists() const {
    return is("sqlite") || is("path") || is("segmented") || is("crawler") || is("crawler-bloom");
  }

 private:
  test::TempDir directory_;
};

// Short URLs over a small alphabet: many are prefixes of others, and many repeat.
std::string random_url(std::mt19937_64& random) {
  std::string url = "http://h" + std::to_string(random() % 3) + "/";
  for (std::uint64_t left = random() % 7; left > 0; --left) url += "ab/."[random() % 4];
  return url;
}

TEST_P(DedupStructure, AsASetOverRandomStreams) {
  const std::unique_ptr<UrlSet> set = open();
  ASSERT_NE(set, nullptr);
  const bool approximate = dynamic_cast<ApproximateUrlSet*>(set.get()) != nullptr;
  std::set<std::string> twin;
  std::mt19937_64 random(11);
  std::uint64_t wrong = 0, fresh = 0;
  for (int step = 0; step < (is("path") ? 1500 : 5000); ++step) {
    const std::string url = random_url(random);
    const bool before = !twin.insert(url).second;
    const auto seen = set->seen(url);
    ASSERT_TRUE(seen) << seen.error().message;
    if (before) {
      ASSERT_TRUE(*seen) << "a false negative: " << url;
    }
    if (!approximate) {
      ASSERT_EQ(*seen, before) << url;
    }
    fresh += !before;
    wrong += !before && *seen;
  }
  ASSERT_GT(fresh, 100u);
  EXPECT_LT(static_cast<double>(wrong), 0.05 * static_cast<double>(fresh) + 5);
}

TEST_P(DedupStructure, AUrlThatBeginsAnotherIsNotSeen) {
  const std::unique_ptr<UrlSet> set = open();
  EXPECT_FALSE(*set->seen("http://h/ab/cd.html"));
  for (const char* const url : {"http://h/ab/cd", "http://h/ab/", "http://h/a", "http://h/ab/cd.html?x"})
    EXPECT_FALSE(*set->seen(url)) << url;
  for (const char* const url : {"http://h/ab/cd.html", "http://h/ab/", "http://h/a"}) EXPECT_TRUE(*set->seen(url));
}

TEST_P(DedupStructure, ARestartKeepsWhatIsOnTheDiskAndNothingElse) {
  std::unique_ptr<UrlSet> set = open();
  for (int i = 0; i < 50; ++i) ASSERT_FALSE(*set->seen("http://h/" + std::to_string(i)));
  set.reset();
  set = open();
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(*set->seen("http://h/0"), persists());
  EXPECT_EQ(*set->seen("http://h/49"), persists());
  EXPECT_FALSE(*set->seen("http://h/50"));
  if (is("path")) {
    EXPECT_GT(disk_use(plan().directory)->files, 50u * 28);  // in memory a directory has no blocks
  } else {
    EXPECT_EQ(*set->disk_bytes() > 0, persists());
  }
}

TEST_P(DedupStructure, BytesAreCounted) {
  const std::unique_ptr<UrlSet> set = open();
  const std::uint64_t empty = set->memory_bytes();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(set->seen("http://host-of-some-length/" + std::to_string(i)));
  const std::uint64_t full = set->memory_bytes();
  EXPECT_LE(full, GetParam()->memory_wanted(plan())) << "the guard would have let too much through";
  if (is("list") || is("hash")) {
    EXPECT_GE(full - empty, 200u * 28);
  }  // at least the text
  if (is("md5")) {
    EXPECT_GE(full - empty, 200u * 16);
  }
  if (is("sha1")) {
    EXPECT_GE(full - empty, 200u * 20);
  }
  if (is("bitmap")) {
    EXPECT_EQ(full, 4000u * 20 / 8);
  }
  if (is("bloom")) {
    EXPECT_EQ(full, 4000u * 20 / 8);
  }
  if (is("segmented")) {
    EXPECT_EQ(full, 32u << 20);
  }
  if (is("path")) {
    EXPECT_EQ(full, 0u);
  }
}

std::vector<const UrlSetKind*> kinds() { return *chosen_kinds({}); }
INSTANTIATE_TEST_SUITE_P(All, DedupStructure, testing::ValuesIn(kinds()), [](const auto& kind) {
  std::string name = kind.param->name;
  std::erase(name, '-');
  return name;
});

TEST(SegmentedBitmap, Background_BitsOfTheMd5FromOne) {
  // Bits 5 to 16, 17 to 27 and 28 to 32 of the digest, the first being bit 1.
  for (const char* const url : {"http://a/", "http://b/", "http://c/x"}) {
    const ring::Md5 digest = ring::md5(url);
    const auto bits = [&](int first, int last) {
      std::uint32_t value = 0;
      for (int bit = first; bit <= last; ++bit)
        value = value << 1 | (digest[static_cast<std::size_t>((bit - 1) / 8)] >> (7 - (bit - 1) % 8) & 1u);
      return value;
    };
    const SegmentedBitmap::Place place = SegmentedBitmap::place(url);
    EXPECT_EQ(place.segment, bits(5, 16));
    EXPECT_EQ(place.word, bits(17, 27));
    EXPECT_EQ(place.bit, bits(28, 32));
  }
  EXPECT_EQ(SegmentedBitmap::slots, 268'435'456u);
}

TEST(SegmentedBitmap, AFileOfAnotherSizeIsRefusedByName) {
  const test::TempDir directory;
  const std::string path = directory.file("segments");
  std::ofstream(path) << "not 32 MiB";
  const auto set = SegmentedBitmap::open(path);
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().message.find(path), std::string::npos);
  EXPECT_EQ(set.error().code, ErrorCode::io);
}

TEST(GeneralizedList, Wu2009_UrlsShareTheNodesOfTheirCommonBeginning) {
  GeneralizedListSet set;
  ASSERT_FALSE(*set.seen("http://a/b"));
  EXPECT_EQ(set.nodes(), 1u + 10);
  ASSERT_FALSE(*set.seen("http://a/cd"));
  EXPECT_EQ(set.nodes(), 1u + 10 + 2);
  ASSERT_FALSE(*set.seen("http://a"));
  EXPECT_EQ(set.nodes(), 1u + 10 + 2);
}

// --- the stream ---

Result<UrlStream> read(const std::string& text) {
  std::istringstream in(text);
  return read_url_stream(in, "urls.txt");
}

TEST(UrlStream, DifferentUrlsAreNumberedInOrder) {
  const auto stream = read("\xef\xbb\xbfhttp://a/\n# a comment\n\nhttp://b/\r\n  http://a/ \nhttps://c?q\n");
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_EQ(stream->different(), 3u);
  EXPECT_EQ(stream->checks(), (std::vector<std::uint32_t>{0, 1, 0, 2}));
  EXPECT_EQ(stream->url(1), "http://b/");
  EXPECT_EQ(stream->checks_for(1), 1u);
  EXPECT_EQ(stream->checks_for(2), 3u);
  EXPECT_EQ(stream->checks_for(3), 4u);
}

TEST(UrlStream, BadInputNamesFileAndLine) {
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"", "urls.txt has no URL"},
           {"# only a comment\n\n", "urls.txt has no URL"},
           {"http://a/\nftp://b/\n", "urls.txt:2: no URL: it begins with neither"},
           {"www.example.org\n", "urls.txt:1: no URL"},
           {"http:///x\n", "urls.txt:1: no URL: it has no host"},
           {"https://\n", "urls.txt:1: no URL: it has no host"},
           {"http://a/b c\n", "urls.txt:1: no URL: a space"},
           {std::string("http://a/\0x\n", 12), "urls.txt:1: no URL: a space or control"},
           {"http://a/\n\nhttp://a/" + std::string(4096, 'x') + "\n", "urls.txt:3: a URL of 4105 bytes"},
           {std::string(20'000, 'x'), "urls.txt:1: a line of more than 8192 bytes"}}) {
    const auto stream = read(text);
    ASSERT_FALSE(stream) << text.substr(0, 40);
    EXPECT_EQ(stream.error().code, ErrorCode::invalid_input);
    EXPECT_TRUE(stream.error().message.starts_with(wanted)) << stream.error().message;
  }
}

TEST(UrlStream, ManyUrlsAgainstASet) {
  std::mt19937_64 random(3);
  UrlStream stream;
  std::set<std::string> twin;
  for (int i = 0; i < 20'000; ++i) {
    const std::string url = random_url(random);
    ASSERT_EQ(stream.add(url), twin.insert(url).second);
    ASSERT_EQ(stream.url(stream.checks().back()), url);
  }
  EXPECT_EQ(stream.different(), twin.size());
}

TEST(UrlGenerator, TheSameSeedMakesTheSameStream) {
  const UrlGenerator generator{3000, 0.3, 7};
  const UrlStream a = generate_url_stream(generator), b = generate_url_stream(generator);
  ASSERT_EQ(a.checks(), b.checks());
  EXPECT_EQ(a.different(), 3000u);
  std::set<std::string_view> urls;
  for (std::uint32_t i = 0; i < a.different(); ++i) {
    ASSERT_EQ(a.url(i), b.url(i));
    EXPECT_TRUE(urls.insert(a.url(i)).second) << "numbered twice: " << a.url(i);
  }
  EXPECT_NE(a.url(0), generate_url_stream({3000, 0.3, 8}).url(0));
  // Three in ten are repeats, within chance, and URLs have a usual length.
  EXPECT_NEAR(static_cast<double>(a.checks().size()), 3000 / 0.7, 200);
  EXPECT_NEAR(static_cast<double>(a.text_bytes(3000)) / 3000, 64, 8);
  // Some URLs are prefixes of others.
  std::uint64_t beginnings = 0;
  for (auto at = urls.begin(); std::next(at) != urls.end(); ++at) beginnings += std::next(at)->starts_with(*at);
  EXPECT_GT(beginnings, 20u);
}

// --- the experiment ---

DedupConfig config_in(const test::TempDir& directory) {
  DedupConfig config;
  config.directory = directory.path();
  config.memory_available = std::uint64_t{8} << 30;
  return config;
}

TEST(LabDedup, UnknownStructuresAreNamedAndANearOneSuggested) {
  const auto near = chosen_kinds({"blom"});
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().message, "there is no structure 'blom'; did you mean 'bloom'?");
  EXPECT_EQ(near.error().code, ErrorCode::invalid_setting);
  const auto far = chosen_kinds({"judy-array"});
  ASSERT_FALSE(far);
  EXPECT_NE(far.error().message.find("sqlite, list, generalized"), std::string::npos);
  EXPECT_EQ(chosen_kinds({"crawler", "list"})->size(), 2u);
  EXPECT_EQ(chosen_kinds({})->size(), 12u);
}

TEST(LabDedup, BadSizesAndTooMuchMemoryAreErrorsBeforeAnythingIsWritten) {
  const test::TempDir directory;
  const UrlStream stream = generate_url_stream({100, 0, 1});
  DedupConfig config = config_in(directory);
  config.sizes = {0};
  EXPECT_EQ(measure_dedup(config, stream).error().code, ErrorCode::invalid_setting);
  config.sizes = {101};
  EXPECT_NE(measure_dedup(config, stream).error().message.find("there are 100"), std::string::npos);
  config.sizes = {100};
  config.memory_available = std::uint64_t{1} << 20;
  const auto refused = measure_dedup(config, stream);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("1.0 MiB are available"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(LabDedup, EveryStructureIsMeasuredAndCleansUp) {
  const test::TempDir directory;
  const UrlStream stream = generate_url_stream({300, 0.4, 1});
  DedupConfig config = config_in(directory);
  config.sizes = {50, 300};
  const auto rows = measure_dedup(config, stream);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 24u);
  for (const DedupRow& row : *rows) {
    SCOPED_TRACE(row.kind->name);
    EXPECT_EQ(row.urls, row.size);
    EXPECT_EQ(row.checks, stream.checks_for(row.size));
    EXPECT_EQ(row.false_negatives, 0u);
    if (!row.approximate) {
      EXPECT_EQ(row.false_positives, 0u);
    }
    EXPECT_GT(row.mean_us, 0);
    EXPECT_GT(row.asked_again, 0u);
    EXPECT_FALSE(row.stopped);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  const Report report = dedup_report(config, stream, *rows);
  ASSERT_EQ(report.tables.size(), 3u);  // one table per size, and the shape
  EXPECT_EQ(report.tables[0].rows.size(), 12u);
  EXPECT_EQ(report.tables[2].rows.size(), 3u);
  EXPECT_EQ(report.plots.size(), 2u);
  EXPECT_EQ(report.facts["structures"].size(), 24u);
}

TEST(LabDedup, ABudgetStopsAndTheTableSaysSo) {
  const test::TempDir directory;
  const UrlStream stream = generate_url_stream({5000, 0, 1});
  DedupConfig config = config_in(directory);
  config.structures = {"list"};
  config.budget = std::chrono::nanoseconds(1);
  const auto rows = measure_dedup(config, stream);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_TRUE(rows->front().stopped);
  EXPECT_EQ(rows->front().urls, 32u);  // one block
  const std::string text = to_text(dedup_report(config, stream, *rows).tables.front());
  EXPECT_NE(text.find("Stopped by the budget: linked list, with 32 of 5000"), std::string::npos) << text;
}

TEST(LabDedup, Background_TheBloomFiltersRateIsWhatItsFormulaSays) {
  const test::TempDir directory;
  const UrlStream stream = generate_url_stream({16'000, 0.25, 1});
  DedupConfig config = config_in(directory);
  config.structures = {"bloom", "bitmap"};
  config.budget = std::chrono::hours(1);
  const auto rows = measure_dedup(config, stream);
  ASSERT_TRUE(rows) << rows.error().message;
  const DedupRow& bitmap = (*rows)[0];
  const DedupRow& bloom = (*rows)[1];
  EXPECT_NEAR(bloom.predicted_full_rate, 8.89e-5, 0.005e-5);
  // 89 per million, within five standard deviations.
  EXPECT_NEAR(bloom.full_rate, bloom.predicted_full_rate, 5 * 9.5e-6);
  EXPECT_NEAR(bitmap.full_rate, 0.0488, 0.003);
  EXPECT_NEAR(static_cast<double>(bitmap.false_positives), bitmap.predicted_false_positives, 5 * 20);
}

TEST(TraceStream, TheLinksInTheirOrderAndAnEmptyTraceIsTold) {
  const test::TempDir dir;
  const std::string directory = dir.file("links");
  {
    auto writer = storage::LinkTraceWriter::open({directory, "ow", storage::trace_bytes_least, {{"peer", "1"}}});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->close());
  }
  const auto none = read_trace_stream({directory});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find(directory), std::string::npos) << none.error().message;
  auto writer = storage::LinkTraceWriter::open({directory, "ow", storage::trace_bytes_least, {{"peer", "1"}}});
  ASSERT_TRUE(writer);
  storage::TracePage page;
  page.url = "http://a.test/";
  page.links = {{"http://a.test/1", 0}, {"http://a.test/2", 0}};
  ASSERT_TRUE(writer->add(page));
  page.links = {{"http://a.test/2", 0}, {"http://a.test/3", 0}};
  ASSERT_TRUE(writer->add(page));
  ASSERT_TRUE(writer->close());
  const auto stream = read_trace_stream({directory});
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_EQ(stream->checks(), (std::vector<std::uint32_t>{0, 1, 1, 2}));
  EXPECT_EQ(stream->url(2), "http://a.test/3");
  EXPECT_FALSE(read_trace_stream({dir.file("nowhere")}));
}

}  // namespace
}  // namespace orbweaver
