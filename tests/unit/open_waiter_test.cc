// What happens to files when no descriptor is free: opening waits, and then succeeds.
#include "storage/open_waiter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <future>

#include "storage/append_file.h"
#include "storage/rocks_kv.h"
#include "storage/warc.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::storage {
namespace {

using namespace std::chrono_literals;
using test::TempDir;

TEST(OpenWaiter, WaitsOutALackAndNothingElse) {
  int reported = 0;
  OpenWaiter waiter(10s, [&](const std::string& path) { reported += path == "file" ? 1 : 100; });
  EXPECT_EQ(waiter.open("file", [] { return ENOENT; }), ENOENT);
  EXPECT_EQ(waiter.open("file", [] { return 0; }), 0);
  EXPECT_EQ(waiter.waits(), 0u);
  int attempts = 0;
  EXPECT_EQ(waiter.open("file", [&] { return ++attempts < 4 ? (attempts % 2 == 0 ? EMFILE : ENFILE) : 0; }), 0);
  EXPECT_EQ(attempts, 4);
  EXPECT_EQ(waiter.waits(), 1u);
  EXPECT_EQ(reported, 1);
}

TEST(OpenWaiter, GivesUpAfterItsPatience) {
  OpenWaiter waiter(20ms, nullptr);
  EXPECT_EQ(waiter.open("file", [] { return EMFILE; }), EMFILE);
  EXPECT_EQ(open_with(nullptr, "file", [] { return EMFILE; }), EMFILE);
}

TEST(OpenWaiter, AStopEndsAllWaits_ThoseUnderWayToo) {
  std::promise<void> begun;
  int kept = 0;
  const auto around = [&kept] {
    ++kept;
    return std::shared_ptr<void>(nullptr, [&kept](void*) { --kept; });
  };
  OpenWaiter waiter(
      10min,
      [&](const std::string&) {
        EXPECT_EQ(kept, 1) << "while it waits";
        begun.set_value();
      },
      around);
  auto opened = std::async(std::launch::async, [&] { return waiter.open("file", [] { return EMFILE; }); });
  begun.get_future().wait();
  EXPECT_FALSE(waiter.stopped());
  waiter.stop_in(1h);
  EXPECT_FALSE(waiter.stopped());
  waiter.stop_in(0ms);
  waiter.stop_in(1h);
  EXPECT_EQ(opened.get(), EMFILE);
  EXPECT_TRUE(waiter.stopped());
  EXPECT_EQ(kept, 0);
  EXPECT_EQ(waiter.open("file", [] { return EMFILE; }), EMFILE);
  EXPECT_EQ(waiter.open("file", [] { return 0; }), 0);
  EXPECT_EQ(waiter.waits(), 1u);
}

// Uses up all descriptors of this process; free() releases them.
class NoneFree {
 public:
  NoneFree() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest = ::dup(0);  // no lower one is free
    ::close(lowest);
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(lowest);
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoneFree() { free(); }
  NoneFree(const NoneFree&) = delete;
  NoneFree& operator=(const NoneFree&) = delete;
  void free() const { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(OpenWaiter, AnArchiveFileIsMadeWhenADescriptorIsFreeAgain) {
  const TempDir dir;
  const NoneFree* none = nullptr;
  OpenWaiter waiter(60s, [&](const std::string&) { none->free(); });
  WarcConfig config;
  config.directory = dir.file("warc");
  config.name_prefix = "ow-c-p-0";
  config.waiter = &waiter;
  auto writer = WarcWriter::open(config);
  ASSERT_TRUE(writer) << writer.error().message;
  WarcExchange exchange;
  exchange.target_uri = "http://example.org/";
  exchange.response_head = "HTTP/1.1 200 OK\r\n\r\n";
  {
    const NoneFree now;
    none = &now;
    EXPECT_TRUE((*writer)->write(exchange, Time{}));
  }
  EXPECT_EQ(waiter.waits(), 1u);
  EXPECT_TRUE((*writer)->close());
}

// RocksDB would treat the failed flush as a disk fault and refuse all writes from then on.
TEST(OpenWaiter, TheStoreGoesOnWhenADescriptorIsFreeAgain) {
  const TempDir dir;
  const NoneFree* none = nullptr;
  std::string waited_for;
  OpenWaiter waiter(60s, [&](const std::string& path) {
    waited_for = path;
    none->free();
  });
  RocksConfig config;
  config.directory = dir.file("store");
  config.waiter = &waiter;
  auto kv = open_rocks(config);
  ASSERT_TRUE(kv) << kv.error().message;
  const std::string value(1u << 20, 'v');
  {
    const NoneFree now;
    none = &now;
    // More than fits in the tables' write buffers, so that new journals and tables are opened.
    for (int i = 0; i < 80; ++i) {
      KvBatch batch;
      batch.put(Table::urls, "key" + std::to_string(i), value);
      const auto written = (*kv)->write(batch);
      ASSERT_TRUE(written) << written.error().message;
    }
    EXPECT_GT(waiter.waits(), 0u);
    EXPECT_TRUE(waited_for.starts_with(config.directory)) << waited_for;
  }
  EXPECT_EQ((*kv)->get(Table::urls, "key0")->value_or("").size(), value.size());
}

}  // namespace
}  // namespace orbweaver::storage
