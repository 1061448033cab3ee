// The threads that read responses: undo the codings, find the links, write the archive and the text. Each has its own
// archive file, so nothing is shared. A page's record is in the archive (handed to the operating system) before the
// core hears of the page, so a page that counts as fetched is archived, whatever dies when. Thread rule: push() from
// the fetcher's thread; `done` runs on the workers' threads. Bounded: by the number of fetches under way, which the
// core bounds, and by bytes: a response brings its charge along (FetchResponse::held), which goes on with PageDone;
// what is unpacked has a share of its own (decode_room.h), and links wait for room in theirs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "node/corpus/text_repeats.h"
#include "node/crawl/events.h"
#include "node/fetch/fetcher.h"
#include "node/memory/decode_room.h"
#include "node/process/in_flight.h"
#include "node/process/user_command.h"
#include "node/settings/settings.h"
#include "node/system/clock.h"
#include "storage/open_waiter.h"

namespace orbweaver {

struct WorkersConfig {
  Settings settings;
  std::string archive_dir;  // <peer's directory>/archive
  std::string text_dir;     // <peer's directory>/text
  std::string name_prefix;  // "orbweaver-<ring>-<peer>"; unique in the ring
  std::shared_ptr<MemoryShare> decoded;
  std::shared_ptr<MemoryShare> links;
  InFlight* in_flight = nullptr;          // null: no page is marked; else it outlives the workers and every PageDone
  storage::OpenWaiter* waiter = nullptr;  // outlives the workers
};

class Workers {
 public:
  using Done = std::function<void(PageDone)>;
  // Opens the archives (cutting torn tails of an earlier run) and starts the threads.
  static Result<std::unique_ptr<Workers>> start(WorkersConfig config, const Clock& clock, Done done);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  void push(FetchJob job, FetchResponse response);
  // What is queued and not begun is answered as cancelled: a stop is not to wait for what may take long, such as the
  // user's commands.
  void cancel();
  // Finishes what is queued, closes the archives. The error is the first that a close met.
  Result<void> stop();

 private:
  struct Item {
    FetchJob job;
    FetchResponse response;
  };
  class Worker;
  Workers() = default;
  std::optional<Item> pop();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Item> queue_;
  bool stopping_ = false;
  Done done_;
  std::unique_ptr<SharedRepeats> repeats_;  // with --text
  std::unique_ptr<DecodeRoom> room_;
  std::shared_ptr<MemoryShare> links_;
  UserCommands user_commands_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

}  // namespace orbweaver
