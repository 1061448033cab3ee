// What is synced, and when. Its own fsync and fdatasync note each call, and fail if a test wants it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <future>
#include <mutex>

#include "node/config/settings_table.h"
#include "node/system/private_file.h"
#include "storage/append_directory.h"
#include "storage/append_file.h"
#include "storage/link_trace.h"
#include "storage/text_file.h"
#include "storage/warc.h"
#include "tests/unit/temp_dir.h"
#include "tests/unit/workers_fixture.h"

namespace {

struct Synced {
  std::string path;
  std::uint64_t size = 0;
};

std::mutex mutex;
std::vector<Synced> calls;  // guarded by mutex
std::string fails;          // guarded by mutex: syncs of paths that contain it; empty: none

int sync_and_note(int fd, long number) {
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  std::error_code ignored;
  const std::string path = std::filesystem::read_symlink(link, ignored).string();
  struct stat status {};
  ::fstat(fd, &status);
  const std::lock_guard lock(mutex);
  if (!fails.empty() && path.find(fails) != std::string::npos) {
    errno = EIO;
    return -1;
  }
  calls.push_back({path, static_cast<std::uint64_t>(status.st_size)});
  return static_cast<int>(::syscall(number, fd));
}

}  // namespace

extern "C" int fsync(int fd) { return sync_and_note(fd, SYS_fsync); }
extern "C" int fdatasync(int fd) { return sync_and_note(fd, SYS_fdatasync); }

namespace orbweaver {
namespace {

using Paths = std::vector<std::string>;

class DurableFiles : public testing::Test {
 protected:
  DurableFiles() { (void)taken(); }
  ~DurableFiles() override { fail_at(""); }

  // The paths that were synced since the last call.
  Paths taken() {
    const std::lock_guard lock(mutex);
    Paths paths;
    for (Synced& call : calls) paths.push_back(std::move(call.path));
    calls.clear();
    return paths;
  }
  static void fail_at(const std::string& part) {
    const std::lock_guard lock(mutex);
    fails = part;
  }
  // The most bytes of the file that a sync has brought to the disk.
  static std::uint64_t bytes_synced(const std::string& path) {
    const std::lock_guard lock(mutex);
    std::uint64_t bytes = 0;
    for (const Synced& call : calls)
      if (call.path == path) bytes = std::max(bytes, call.size);
    return bytes;
  }
  static bool holds(const Paths& paths, const std::string& path) {
    return std::find(paths.begin(), paths.end(), path) != paths.end();
  }

  storage::WarcConfig warc(bool sync_names) const {
    storage::WarcConfig config;
    config.directory = dir_.file("far/archive");
    config.name_prefix = "ow";
    config.sync_names = sync_names;
    return config;
  }
  static storage::WarcExchange exchange() {
    storage::WarcExchange exchange;
    exchange.target_uri = "http://a.test/";
    exchange.response_head = "HTTP/1.1 200 OK\r\n\r\n";
    return exchange;
  }

  const test::TempDir dir_;
};

TEST_F(DurableFiles, DirectoriesThatLeadToOneAreSyncedUpToWhatIsNotOurs) {
  ASSERT_TRUE(storage::make_directory(dir_.file("a/b/c")));
  EXPECT_EQ(taken(), Paths());
  ASSERT_TRUE(storage::sync_directories_to(dir_.file("a/b/c")));
  const Paths paths = taken();
  ASSERT_GE(paths.size(), 4u);
  EXPECT_EQ(Paths(paths.begin(), paths.begin() + 4),
            (Paths{dir_.file("a/b/c"), dir_.file("a/b"), dir_.file("a"), dir_.path()}));
}

TEST_F(DurableFiles, ADirectoryThatCannotBeSyncedIsNamed) {
  ASSERT_TRUE(storage::make_directory(dir_.file("a/b")));
  fail_at(dir_.file("a"));
  const auto synced = storage::sync_directories_to(dir_.file("a/b"));
  ASSERT_FALSE(synced);
  EXPECT_NE(synced.error().message.find("cannot sync " + dir_.file("a/b")), std::string::npos);
  EXPECT_NE(synced.error().message.find("mend the disk"), std::string::npos);
}

TEST_F(DurableFiles, ANewArchiveFilesNameIsOnTheDiskBeforeItsRecords) {
  auto writer = storage::WarcWriter::open(warc(true));
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_TRUE(holds(taken(), dir_.file("far")));
  ASSERT_TRUE((*writer)->write(exchange(), Time{}));
  EXPECT_EQ(taken(), Paths{dir_.file("far/archive")});
  ASSERT_TRUE((*writer)->write(exchange(), Time{}));
  EXPECT_EQ(taken(), Paths()) << "the same file";
  ASSERT_TRUE((*writer)->synced_file()->sync());
  EXPECT_EQ(taken().size(), 1u);
}

TEST_F(DurableFiles, WithDurabilityProcessNothingIsSyncedButAFinishedFile) {
  auto writer = storage::WarcWriter::open(warc(false));
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->write(exchange(), Time{}));
  EXPECT_EQ(taken(), Paths());
  ASSERT_TRUE((*writer)->close());
  EXPECT_EQ(taken().size(), 2u) << "its contents and its final name";
  ASSERT_TRUE(write_whole(dir_.file("peer.json"), "{}", Durability::process));
  ASSERT_TRUE(write_secret(dir_.file("key"), "secret", Durability::process));
  EXPECT_EQ(taken(), Paths());
}

TEST_F(DurableFiles, AnArchiveWhoseNameCannotBeSyncedWritesNothing) {
  auto writer = storage::WarcWriter::open(warc(true));
  ASSERT_TRUE(writer);
  fail_at("far/archive");
  const auto written = (*writer)->write(exchange(), Time{});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("cannot sync " + dir_.file("far/archive")), std::string::npos);
}

TEST_F(DurableFiles, TextsAndTracesSyncTheirNamesToo) {
  auto text = storage::TextFile::open({.directory = dir_.file("text"), .name_prefix = "ow", .sync_names = true});
  ASSERT_TRUE(text);
  EXPECT_TRUE(holds(taken(), dir_.path()));
  ASSERT_TRUE(text->append("{}"));
  EXPECT_EQ(taken(), Paths{dir_.file("text")});
  storage::LinkTraceConfig config;
  config.directory = dir_.file("links");
  config.name_prefix = "ow";
  config.sync_names = true;
  auto trace = storage::LinkTraceWriter::open(config);
  ASSERT_TRUE(trace);
  EXPECT_TRUE(holds(taken(), dir_.path()));
  storage::TracePage page;
  page.url = "http://a.test/";
  ASSERT_TRUE(trace->add(page));
  ASSERT_TRUE(trace->flush());
  EXPECT_EQ(taken(), Paths{dir_.file("links")});
}

// The system reports a lost write once: a second sync succeeds, and the file has a hole.
TEST_F(DurableFiles, AFileWhoseSyncFailedOnceIsNeverSyncedAgain) {
  auto file = storage::AppendFile::create(dir_.file("a"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append("one"));
  fail_at(dir_.file("a"));
  const auto failed = file->synced_file()->sync();
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("cannot sync " + dir_.file("a")), std::string::npos);
  fail_at("");
  EXPECT_FALSE(file->synced_file()->sync());
  EXPECT_FALSE(file->sync());
}

// A worker finishes a file while another syncs it.
TEST_F(DurableFiles, AFileStaysOpenWhileAnotherThreadHasIt) {
  auto file = storage::AppendFile::create(dir_.file("a"));
  ASSERT_TRUE(file);
  const std::shared_ptr<storage::SyncedFile> held = file->synced_file();
  file->close();
  ASSERT_TRUE(held->sync());
  EXPECT_EQ(taken(), Paths{dir_.file("a")});
}

TEST_F(DurableFiles, WholeFilesAndSecretsAreSyncedWithTheirNames) {
  ASSERT_TRUE(write_whole(dir_.file("peer.json"), "{}", Durability::power));
  EXPECT_EQ(taken(), (Paths{dir_.file("peer.json.new"), dir_.path()}));
  ASSERT_TRUE(write_secret(dir_.file("key"), "secret", Durability::power));
  EXPECT_EQ(taken(), (Paths{dir_.file("key"), dir_.path()}));
  fail_at("peer.json.new");
  const auto failed = write_whole(dir_.file("peer.json"), "{\"new\":1}", Durability::power);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("cannot sync " + dir_.file("peer.json.new")), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(dir_.file("peer.json.new")));
}

// Real workers: what the core gets is on the disk, archive and text.
class DurableWorkers : public DurableFiles {
 protected:
  void start(Durability durability, const Workers::Done& done) {
    WorkersConfig config = test::workers_config(dir_);
    config.settings.workers = 3;
    config.settings.durability = durability;
    auto started = Workers::start(config, Clock(), done);
    ASSERT_TRUE(started) << started.error().message;
    workers_ = std::move(*started);
  }
  void push(std::uint64_t id) {
    test::push_page(*workers_, id, "text/html",
                    "<html><title>t</title><body><p>Some words that are the text of a page.</body></html>");
  }
  std::vector<std::string> files(const std::string& folder) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.file(folder))) found.push_back(entry.path());
    return found;
  }

  std::unique_ptr<Workers> workers_;
};

TEST_F(DurableWorkers, APageCountsWhenItsRecordAndItsTextAreOnTheDisk) {
  std::promise<void> first;
  start(Durability::power, [&](PageDone page) {
    EXPECT_TRUE(std::holds_alternative<PageRead>(page.what));
    first.set_value();
  });
  push(1);
  first.get_future().wait();
  const auto archives = files("archive");
  const auto texts = files("text");
  ASSERT_EQ(archives.size(), 1u);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(bytes_synced(archives.front()), std::filesystem::file_size(archives.front()));
  EXPECT_EQ(bytes_synced(texts.front()), std::filesystem::file_size(texts.front()));
  EXPECT_TRUE(holds(taken(), dir_.file("archive")));
  EXPECT_EQ(workers_->synced_pages(), 1u);
  EXPECT_EQ(workers_->syncs(), 2u) << "an archive and a text";
}

TEST_F(DurableWorkers, AStopLeavesNoPageBehind) {
  std::atomic<int> counted = 0;
  start(Durability::power, [&](PageDone) { ++counted; });
  for (std::uint64_t id = 1; id <= 50; ++id) push(id);
  ASSERT_TRUE(workers_->stop());
  EXPECT_EQ(counted, 50);
  EXPECT_EQ(workers_->synced_pages(), 50u);
}

TEST_F(DurableWorkers, AFailedSyncIsAPageThatIsNotWritten) {
  std::promise<Error> failure;
  start(Durability::power, [&](PageDone page) {
    const auto* const failed = std::get_if<NotWritten>(&page.what);
    failure.set_value(failed == nullptr ? Error{} : failed->failure);
  });
  fail_at(".warc.gz.open");
  push(1);
  const Error error = failure.get_future().get();
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_NE(error.message.find("cannot sync " + dir_.file("archive/ow-")), std::string::npos) << error.message;
}

TEST_F(DurableWorkers, WithDurabilityProcessPagesAreNotSynced) {
  std::promise<void> done;
  start(Durability::process, [&](PageDone) { done.set_value(); });
  push(1);
  done.get_future().wait();
  EXPECT_EQ(taken(), Paths());
  EXPECT_EQ(workers_->syncs(), 0u);
}

}  // namespace
}  // namespace orbweaver
