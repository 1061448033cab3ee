// Workers read what fetches bring; what outgrows one of them is read by one thread more, while the others go on.
#include "node/process/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>

#include "node/config/settings_table.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

constexpr std::uint16_t large_reader = 1;  // of one worker, by PageDone::worker

class WorkersTest : public testing::Test {
 protected:
  void start(const Workers::Done& done) {
    WorkersConfig config;
    config.settings = default_settings();
    config.settings.text = true;
    config.archive_dir = dir_.file("archive");
    config.text_dir = dir_.file("text");
    config.name_prefix = "ow";
    config.decoded = std::make_shared<MemoryShare>(64u << 20);
    config.links = std::make_shared<MemoryShare>(64u << 20);
    auto started = Workers::start(config, Clock(), done);
    ASSERT_TRUE(started) << started.error().message;
    workers_ = std::move(*started);
  }
  void push(std::uint64_t id, std::string type, std::string body) {
    FetchResponse response;
    response.id = id;
    response.status = 200;
    response.response_head = "HTTP/1.1 200 OK\r\nContent-Type: " + std::move(type) + "\r\n\r\n";
    response.body = std::move(body);
    workers_->push(
        {.id = id, .url = *CanonicalUrl::parse("http://a.test/" + std::to_string(id)), .host = {}, .what = PageFetch{}},
        std::move(response));
  }
  static std::string page_of(std::size_t bytes) {
    std::string body = "<html><title>t</title><body>";
    while (body.size() < bytes) body += "<p>Some words that are the text of a page.";
    return body;
  }
  std::size_t lines_of_text() const {
    std::size_t lines = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.file("text"))) {
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) ++lines;
    }
    return lines;
  }

  const test::TempDir dir_;
  std::unique_ptr<Workers> workers_;
};

TEST_F(WorkersTest, TheWorkerGoesOnWhileALargePageIsRead) {
  std::promise<void> small_is_done;
  std::shared_future<void> small = small_is_done.get_future().share();
  std::promise<std::uint16_t> large_is_done;
  start([&](const PageDone& page) {
    if (page.id == 2) return small_is_done.set_value();
    EXPECT_EQ(small.wait_for(std::chrono::seconds{60}), std::future_status::ready) << "it waits for the large one";
    large_is_done.set_value(page.worker);
  });
  push(1, "text/html", page_of(std::size_t{1} << 20));
  push(2, "text/html", page_of(100));
  EXPECT_EQ(large_is_done.get_future().get(), large_reader);
}

TEST_F(WorkersTest, WhatIsLargeIsReadByOneThread) {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint16_t> readers;
  start([&](const PageDone& page) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(std::holds_alternative<PageRead>(page.what));
    readers[page.id] = page.worker;
  });
  push(1, "text/html", page_of(400u << 10));
  push(2, "text/html", page_of(600u << 10));
  push(3, "image/png", std::string(std::size_t{1} << 20, 'x'));  // it has no links, and fits twice
  push(4, "image/png", std::string(std::size_t{3} << 20, 'x'));
  push(5, "text/html", page_of(100));
  ASSERT_TRUE(workers_->stop());
  EXPECT_EQ(readers,
            (std::map<std::uint64_t, std::uint16_t>{{1, 0}, {2, large_reader}, {3, 0}, {4, large_reader}, {5, 0}}));
  EXPECT_EQ(lines_of_text(), 3u) << "what was begun and left to the other is written once";
}

TEST_F(WorkersTest, AStopLeavesNoLargePageBehind) {
  std::atomic<int> counted = 0;
  start([&](const PageDone&) { ++counted; });
  for (std::uint64_t id = 1; id <= 20; ++id) push(id, "text/html", page_of(id % 2 == 0 ? 600u << 10 : 100));
  ASSERT_TRUE(workers_->stop());
  EXPECT_EQ(counted, 20);
}

TEST_F(WorkersTest, AfterACancelEveryResponseIsAnswered) {
  std::atomic<int> counted = 0;
  start([&](const PageDone&) { ++counted; });
  for (std::uint64_t id = 1; id <= 20; ++id) push(id, "text/html", page_of(600u << 10));
  workers_->cancel();
  ASSERT_TRUE(workers_->stop());
  EXPECT_EQ(counted, 20);
}

}  // namespace
}  // namespace orbweaver
