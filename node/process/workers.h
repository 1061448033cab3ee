// The threads that read responses, each with a PageReader. A page's record is in the archive (handed to the operating
// system) before the core hears of the page, so a page that counts as fetched is archived, whatever dies when. Thread
// rule: push() from the fetcher's thread; `done` runs on the workers' threads. Bounded: by the number of fetches in
// flight, which the core bounds, and by bytes: a response brings its charge along (FetchResponse::held), which goes on
// with PageDone; what is unpacked has a share of its own (decode_room.h), and links wait for room in theirs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "node/process/page_reader.h"

namespace orbweaver {

class Workers {
 public:
  using Done = std::function<void(PageDone)>;
  // Opens the archives (cutting torn tails of an earlier run) and starts the threads.
  static Result<std::unique_ptr<Workers>> start(WorkersConfig config, const Clock& clock, Done done);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  void push(FetchJob job, FetchResponse response);
  // What is queued and not begun is answered as not read: a stop is not to wait for what may take long, such as the
  // user's commands.
  void cancel();
  // Finishes what is queued, closes the archives. The error is the first that a close met.
  Result<void> stop();

 private:
  Workers() = default;
  std::optional<ReadItem> pop();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<ReadItem> queue_;
  bool stopping_ = false;
  Done done_;
  std::unique_ptr<SharedRepeats> repeats_;  // with --text
  std::unique_ptr<DecodeRoom> room_;
  std::shared_ptr<MemoryShare> links_;
  UserCommands user_commands_;
  std::vector<std::unique_ptr<PageReader>> readers_;
  std::vector<std::thread> threads_;
};

}  // namespace orbweaver
