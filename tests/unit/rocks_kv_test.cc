// The RocksDB store under adverse conditions: another process, another version, a full disk, kill -9.
// The test program itself is the victim: with --write DIR FD it commits until it is killed.
#include "storage/rocks_kv.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "storage/store.h"
#include "tests/unit/crawl_keys.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::storage {
namespace {

constexpr std::size_t links_per_commit = 20;
constexpr std::uint64_t first_link = 1'000'000;  // page numbers from here on are links

// Commit `number`, like a page's commit: its outcome, links to other hosts, outbox entries in and out, a clock, meta.
Commit numbered_commit(std::uint64_t number, std::size_t record_bytes = 200) {
  test::CommitParts parts;
  for (std::size_t i = 0; i < links_per_commit; ++i)
    parts.merges.push_back(test::queued_merge(number % 50, first_link + number * links_per_commit + i, 1));
  Merge page = test::queued_merge(number % 50, number);
  page.record.state = UrlState::fetched;
  parts.merges.push_back(page);
  parts.to_outbox = {{3, std::string(record_bytes, 'a')}, {4, std::string(record_bytes, 'b')}};
  if (number > 1) parts.from_outbox = {{3, 2 * number - 3}};
  parts.clocks.emplace_back(test::host_key_of(number % 50),
                            HostClock{test::at_ms(static_cast<std::int64_t>(number)), 0, test::host_text(number % 50)});
  parts.meta = {{"number", std::to_string(number)}};
  return test::commit_of(parts);
}

std::uint64_t last_number(Store& store) {
  const auto text = store.meta("number");
  return text && *text ? std::stoull(**text) : 0;
}

int write_until_killed(const std::string& directory, int fd) {
  auto kv = open_rocks({directory, 8u << 20, false});
  if (!kv) return 3;
  auto store = Store::open(**kv);
  if (!store) return 4;
  for (std::uint64_t number = last_number(*store) + 1;; ++number) {
    if (!store->commit(numbered_commit(number))) return 5;
    if (::write(fd, &number, sizeof number) != sizeof number) return 6;
  }
}

pid_t start_writer(const std::string& directory, int fd) {
  const std::string fd_text = std::to_string(fd);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::execl("/proc/self/exe", "rocks_kv_test", "--write", directory.c_str(), fd_text.c_str(), nullptr);
  ::_exit(127);
}

TEST(RocksKv, KilledInMidCommitWhatWasDoneIsThereAndNothingByHalf) {
  const test::TempDir directory;
  const std::string path = directory.file("db");
  std::mt19937_64 random(1);
  std::uint64_t done = 0;
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    int pipe_fds[2];
    ASSERT_EQ(::pipe(pipe_fds), 0);
    const pid_t child = start_writer(path, pipe_fds[1]);
    ASSERT_GT(child, 0);
    ::close(pipe_fds[1]);
    const std::uint64_t reports = 1 + random() % 300;
    std::uint64_t reported = 0, number = 0;
    while (reported < reports && ::read(pipe_fds[0], &number, sizeof number) == sizeof number) {
      ++reported;
      done = number;
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    while (::read(pipe_fds[0], &number, sizeof number) == sizeof number) done = number;  // the rest in the pipe
    ::close(pipe_fds[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: exit code " << WEXITSTATUS(status);
    ASSERT_GE(reported, reports);

    auto kv = open_rocks({path, 8u << 20, false});
    ASSERT_TRUE(kv) << kv.error().message;
    auto store = Store::open(**kv);
    ASSERT_TRUE(store);
    const std::uint64_t last = last_number(*store);
    ASSERT_GE(last, done) << "a commit that was reported is gone";
    ASSERT_LE(last, done + 1) << "only one can have been under way";
    ASSERT_EQ(store->counts(),
              (Counts{.queued = last * links_per_commit, .fetched = last, .outbox = 2 * last - (last - 1)}));
    std::uint64_t queued = 0, fetched = 0, outbox = 0;
    for (std::uint16_t partition = 0; partition < test::few_partitions; ++partition) {
      const auto records = store->scan(partition, nullptr, 10'000'000);
      ASSERT_TRUE(records) << records.error().message;  // each queued record has its row in the frontier
      for (const Merge& merge : *records) {
        const std::uint64_t page = std::stoull(merge.record.url.substr(merge.record.url.rfind('/') + 1));
        const std::uint64_t of = page >= first_link ? (page - first_link) / links_per_commit : page;
        ASSERT_LE(of, last) << "a part of a commit that is not there";
        ++(merge.record.state == UrlState::queued ? queued : fetched);
      }
      outbox += store->outbox_of(partition, 0, 10'000'000)->size();
    }
    ASSERT_EQ(queued, store->counts().queued);
    ASSERT_EQ(fetched, store->counts().fetched);
    ASSERT_EQ(outbox, store->counts().outbox);
    done = last;
  }
}

TEST(RocksKv, BadInput_InUseByAnotherOpenOfThisProcess) {
  const test::TempDir directory;
  const auto first = open_rocks({directory.file("db"), 1u << 20, false});
  ASSERT_TRUE(first);
  const auto second = open_rocks({directory.file("db"), 1u << 20, false});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::in_use);
  EXPECT_NE(second.error().message.find(directory.file("db")), std::string::npos);
}

TEST(RocksKv, BadInput_InUseByAnotherProcessAndFreeWhenItDies) {
  const test::TempDir directory;
  int pipe_fds[2];
  ASSERT_EQ(::pipe(pipe_fds), 0);
  const pid_t child = start_writer(directory.file("db"), pipe_fds[1]);
  ASSERT_GT(child, 0);
  ::close(pipe_fds[1]);
  std::uint64_t number = 0;
  ASSERT_EQ(::read(pipe_fds[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
  {
    const auto opened = open_rocks({directory.file("db"), 1u << 20, false});
    EXPECT_FALSE(opened);
    if (!opened) {
      EXPECT_EQ(opened.error().kind, ErrorKind::in_use) << opened.error().message;
      EXPECT_NE(opened.error().message.find("another process"), std::string::npos);
    }
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pipe_fds[0]);
  EXPECT_TRUE(open_rocks({directory.file("db"), 1u << 20, false}));
}

TEST(RocksKv, AnotherFormatVersionIsRefused) {
  const test::TempDir directory;
  {
    const auto kv = open_rocks({directory.file("db"), 1u << 20, false});
    ASSERT_TRUE(kv);
    KvBatch batch;
    batch.put(Table::meta, "format", "7");
    ASSERT_TRUE((*kv)->write(batch));
  }
  const auto kv = open_rocks({directory.file("db"), 1u << 20, false});
  ASSERT_FALSE(kv);
  EXPECT_EQ(kv.error().kind, ErrorKind::version);
  EXPECT_NE(kv.error().message.find("version 7"), std::string::npos) << kv.error().message;
  EXPECT_NE(kv.error().message.find(directory.path()), std::string::npos);
}

TEST(RocksKv, BadInput_ADirectoryThatCannotBeMadeIsAnErrorThatNamesIt) {
  const test::TempDir directory;
  std::ofstream(directory.file("file")) << "a file";
  const auto kv = open_rocks({directory.file("file"), 1u << 20, false});
  ASSERT_FALSE(kv);
  EXPECT_EQ(kv.error().kind, ErrorKind::io);
  EXPECT_NE(kv.error().message.find(directory.file("file")), std::string::npos);
}

TEST(RocksKv, BadInput_GarbageInItsFilesIsAnErrorNotACrash) {
  const test::TempDir directory;
  const std::string path = directory.file("db");
  {
    const auto kv = open_rocks({path, 1u << 20, false});
    ASSERT_TRUE(kv);
    auto store = Store::open(**kv);
    ASSERT_TRUE(store->commit(numbered_commit(1)));
  }
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().filename().string().starts_with("MANIFEST")) std::ofstream(entry.path()) << "garbage";
  const auto kv = open_rocks({path, 1u << 20, false});
  ASSERT_FALSE(kv);
  EXPECT_EQ(kv.error().kind, ErrorKind::corrupt) << kv.error().message;
}

// multi_get answers key by key, for present and absent keys, for many keys and for none.
TEST(RocksKv, MultiGetAnswersEachKey) {
  const test::TempDir directory;
  const auto kv = open_rocks({directory.file("db"), 1u << 20, false});
  ASSERT_TRUE(kv);
  std::vector<std::string> keys;
  KvBatch batch;
  for (int i = 1000; i < 2000; ++i) {
    keys.push_back("key " + std::to_string(i));
    if (i % 3 == 0) batch.put(Table::urls, keys.back(), std::string(static_cast<std::size_t>(i % 7), 'v'));
  }
  ASSERT_TRUE((*kv)->write(batch));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<std::optional<std::string>> values{"left over"};
  ASSERT_TRUE((*kv)->multi_get(Table::urls, views, values));
  ASSERT_EQ(values.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t number = i + 1000;
    ASSERT_EQ(values[i].has_value(), number % 3 == 0);
    if (values[i]) {
      ASSERT_EQ(*values[i], std::string(number % 7, 'v'));
    }
  }
  ASSERT_TRUE((*kv)->multi_get(Table::urls, {}, values));
  EXPECT_TRUE(values.empty());
  ASSERT_TRUE((*kv)->multi_get(Table::hosts, std::span(views).first(1), values));
  EXPECT_FALSE(values[0]) << "tables are apart";
}

// A small separate disk, where mounting is permitted.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path) : path_(path) {
    std::filesystem::create_directories(path_);
    mounted_ = ::mount("none", path_.c_str(), "tmpfs", 0, "size=48m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST(RocksKv, BadInput_AFullDiskIsSaidAndNothingIsLost) {
  const test::TempDir directory;
  const SmallDisk disk(directory.file("disk"));
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small tmpfs is not permitted here";
  const std::string path = directory.file("disk/db");
  const std::string ballast = directory.file("disk/ballast");
  std::uint64_t done = 0;
  {
    const auto kv = open_rocks({path, 1u << 20, false});
    ASSERT_TRUE(kv) << kv.error().message;
    auto store = Store::open(**kv);
    std::ofstream(ballast) << std::string(30u << 20, 'x');
    std::optional<Error> error;
    for (std::uint64_t number = 1; number < 100'000 && !error; ++number) {
      const Counts before = store->counts();
      const auto committed = store->commit(numbered_commit(number, 50'000));
      if (committed) {
        done = number;
      } else {
        error = committed.error();
        EXPECT_EQ(store->counts(), before);
      }
    }
    ASSERT_TRUE(error) << "the disk never filled";
    for (int again = 0; again < 3; ++again) EXPECT_FALSE(store->commit(numbered_commit(done + 1, 50'000)));
    EXPECT_EQ(error->kind, ErrorKind::disk_full) << error->message;
    EXPECT_NE(error->message.find(path), std::string::npos);
    EXPECT_NE(error->message.find("disk is full"), std::string::npos);
  }
  std::filesystem::remove(ballast);
  const auto kv = open_rocks({path, 1u << 20, false});
  ASSERT_TRUE(kv) << kv.error().message;
  auto store = Store::open(**kv);
  ASSERT_TRUE(store);
  EXPECT_EQ(last_number(*store), done) << "what was committed, and nothing of what was refused";
  EXPECT_EQ(store->counts().fetched, done);
  EXPECT_TRUE(store->commit(numbered_commit(done + 1)));
}

}  // namespace
}  // namespace orbweaver::storage

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--write")
    return orbweaver::storage::write_until_killed(argv[2], std::stoi(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
