// Notices reach their receiver in order, each until it is taken; and a hook's command and web hook judge their ends.
#include "node/notify/notice_sender.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "node/fetch/curl_post.h"
#include "node/notify/hook_command.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

using Outcome = Delivery::Outcome;
using std::chrono::milliseconds;

// A receiver that answers as it is told, and remembers what came.
class Receiver {
 public:
  NoticeSender::Deliver deliver() {
    return [this](const std::string& text, milliseconds) {
      std::unique_lock lock(mutex_);
      change_.wait(lock, [this] { return open_; });
      came_.push_back(text);
      Delivery next;
      if (!answers_.empty()) {
        next = answers_.front();
        answers_.pop_front();
      }
      change_.notify_all();
      return next;
    };
  }
  void answer(std::initializer_list<Outcome> outcomes) {
    for (const Outcome outcome : outcomes) answers_.push_back({outcome, "why"});
  }
  void hold() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    change_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    change_.wait(lock, [&] { return came_.size() >= count; });
    return came_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable change_;
  bool open_ = true;
  std::deque<Delivery> answers_;
  std::vector<std::string> came_;
};

class NoticeSenderTest : public testing::Test {
 protected:
  std::vector<std::string> stop(milliseconds patience) {
    sender_.end(patience);
    return sender_.stop();
  }
  Receiver receiver_;
  std::atomic<int> failures_ = 0;
  std::atomic<int> refusals_ = 0;
  NoticeSender sender_{{.first_wait = milliseconds{1}, .max_wait = milliseconds{4}, .max_waiting = 3},
                       receiver_.deliver(),
                       [this](const std::string&, bool refused) { ++(refused ? refusals_ : failures_); }};
};

TEST_F(NoticeSenderTest, WhatFailsIsToldAgainBeforeWhatFollows) {
  receiver_.answer({Outcome::again, Outcome::again, Outcome::taken, Outcome::refused, Outcome::taken});
  ASSERT_TRUE(sender_.start());
  for (const char* text : {"a", "b", "c"}) sender_.push(text);
  EXPECT_EQ(receiver_.wait_for(5), (std::vector<std::string>{"a", "a", "a", "b", "c"}));
  EXPECT_TRUE(stop(milliseconds{10'000}).empty());
  EXPECT_EQ(sender_.taken(), 2u);
  EXPECT_EQ(sender_.lost(), 1u);
  EXPECT_EQ(failures_, 2);
  EXPECT_EQ(refusals_, 1);
}

TEST_F(NoticeSenderTest, AFullQueueLosesItsOldestAndCountsThem) {
  receiver_.hold();
  for (const char* text : {"a", "b", "c", "d", "e"}) sender_.push(text);
  EXPECT_EQ(sender_.lost(), 2u);
  EXPECT_EQ(sender_.waiting(), 3u);
  ASSERT_TRUE(sender_.start());
  receiver_.go_on();
  EXPECT_EQ(receiver_.wait_for(3), (std::vector<std::string>{"c", "d", "e"}));
}

TEST_F(NoticeSenderTest, AtTheEndWhatWaitsIsToldOrKept) {
  receiver_.answer({Outcome::taken, Outcome::again});
  for (const char* text : {"a", "b", "c"}) sender_.push(text);
  ASSERT_TRUE(sender_.start());
  // A failure at the end keeps what waits; one before the end is tried again, and then all is taken.
  const std::vector<std::string> left = stop(milliseconds{600'000});
  const std::vector<std::string> came = receiver_.wait_for(2);
  EXPECT_EQ(came[0], "a");
  EXPECT_EQ(came[1], "b");
  if (left.empty()) {
    EXPECT_EQ(came, (std::vector<std::string>{"a", "b", "b", "c"}));
  } else {
    EXPECT_EQ(left, (std::vector<std::string>{"b", "c"}));
  }
}

TEST(NoticeSender, WithoutPatienceAllIsKept) {
  NoticeSender sender(
      {}, [](const std::string&, milliseconds) { return Delivery{}; }, [](const std::string&, bool) {});
  sender.push("a");
  sender.end({});
  EXPECT_EQ(sender.left(), std::vector<std::string>{"a"});
  EXPECT_EQ(sender.stop(), std::vector<std::string>{"a"});
}

TEST(HookCommand, WordsAreBetweenSpaces) {
  EXPECT_EQ(words_of("  /bin/x  -a b "), (std::vector<std::string>{"/bin/x", "-a", "b"}));
  EXPECT_TRUE(words_of("  ").empty());
}

class HookCommandTest : public testing::Test {
 protected:
  HookCommandTest() { ::signal(SIGPIPE, SIG_IGN); }  // as a peer does: a command need not read its input
  Delivery run_script(const std::string& text, milliseconds timeout = milliseconds{60'000}) {
    const std::string path = scratch_.path() + "/hook";
    std::ofstream(path) << "#!/bin/sh\n" << text;
    ::chmod(path.c_str(), 0700);
    return run({.arguments = {path, scratch_.path()}, .timeout = timeout}, R"({"event": "peer_lost"})");
  }
  std::string read(const std::string& name) {
    std::ifstream file(scratch_.path() + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  test::TempDir scratch_;
};

TEST_F(HookCommandTest, GetsTheNoticeAsItsInput) {
  EXPECT_EQ(run_script("cat > $1/got").outcome, Outcome::taken);
  EXPECT_EQ(read("got"), "{\"event\": \"peer_lost\"}\n");
}

TEST_F(HookCommandTest, HasNoDescriptorOfThisProcess) {
  EXPECT_EQ(run_script("cat >/dev/null; ls /proc/self/fd > $1/got; grep SigBlk /proc/self/status > $1/blocked").outcome,
            Outcome::taken);
  EXPECT_EQ(read("got"), "0\n1\n2\n3\n") << "3 is what ls itself reads";
  EXPECT_EQ(read("blocked"), "SigBlk:\t0000000000000000\n");
}

TEST_F(HookCommandTest, IsRunAgainWhenItFails) {
  EXPECT_EQ(run_script("exit 3").fault, "it ended with exit code 3");
  EXPECT_EQ(run_script("kill -9 $$").fault, "it ended by signal 9");
  const Delivery slow = run_script("sleep 600", milliseconds{50});
  EXPECT_EQ(slow.outcome, Outcome::again);
  EXPECT_EQ(slow.fault, "it did not end in time");
  EXPECT_EQ(run_script("exec sleep 600 <&-", milliseconds{50}).fault, "it did not end in time");
  EXPECT_TRUE(run({.arguments = {"/no/such/program"}}, "{}").fault.starts_with("it cannot be started"));
}

TEST(PostJson, SaysWhyThereIsNoAnswer) {
  const PostAnswer answer = post_json({.url = "http://127.0.0.1:1/", .user_agent = "test", .ca_file = ""}, "{}");
  EXPECT_EQ(answer.status, 0);
  EXPECT_FALSE(answer.fault.empty());
}

}  // namespace
}  // namespace orbweaver
