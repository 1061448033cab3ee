// Workers read what fetches bring; what outgrows one of them is read by one thread more, while the others go on.
#include "node/process/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>

#include "tests/unit/workers_fixture.h"

namespace orbweaver {
namespace {

constexpr std::uint16_t large_reader = 1;  // of one worker, by PageDone::worker

class WorkersTest : public testing::Test {
 protected:
  void start(const Workers::Done& done) {
    auto started = Workers::start(config_, Clock(), done);
    ASSERT_TRUE(started) << started.error().message;
    workers_ = std::move(*started);
  }
  void push(std::uint64_t id, const std::string& type, std::string body, int status = 200) {
    test::push_page(*workers_, id, type, std::move(body), status);
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
  WorkersConfig config_ = test::workers_config(dir_);
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

// A command runs on any worker, whatever its document's size: it is the archive's copy that needs the large part. What
// it does not run for goes there at once.
TEST_F(WorkersTest, ADocumentForACommandIsLargeByItsCopyAndItsOutput) {
  config_.settings.text_commands = {"application/pdf=cat"};
  std::mutex mutex;
  std::map<std::uint64_t, std::uint16_t> readers;
  std::map<std::uint64_t, std::size_t> links;
  start([&](const PageDone& page) {
    const std::lock_guard lock(mutex);
    readers[page.id] = page.worker;
    const auto* const read = std::get_if<PageRead>(&page.what);
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->command_fault, "");
    if (const auto* const list = std::get_if<LinkList>(&read->listed)) links[page.id] = list->links.size();
  });
  const std::string word = "see http://b.test/x for more\n";
  push(1, "application/pdf", word);
  push(2, "application/pdf", word + std::string(std::size_t{600} << 10, 'x'));
  push(3, "application/pdf", word + std::string(std::size_t{3} << 20, '\n'));
  push(4, "application/pdf", word + std::string(std::size_t{3} << 20, '\n'), 404);
  ASSERT_TRUE(workers_->stop());
  EXPECT_EQ(readers,
            (std::map<std::uint64_t, std::uint16_t>{{1, 0}, {2, large_reader}, {3, large_reader}, {4, large_reader}}));
  for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(links[id], 1u) << id;
  EXPECT_EQ(lines_of_text(), 3u);
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
