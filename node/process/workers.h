// The threads that read responses, each with a PageReader. One more than the setting says reads the large ones, which
// outgrow the memory or the time of an ordinary page: the others go on meanwhile. A page's archive record is written
// (handed to the operating system) before the core receives the page, so a page that counts as fetched is archived,
// whichever process dies when. With durability = power the record and the line of text are on the disk before that
// (page_sync.h).
// Thread rule: push() from the fetcher's thread; `done` runs on the workers' threads. Bounded by the number of fetches
// in flight, which the core limits, and by bytes: a response brings its charge (FetchResponse::charge), which moves on
// to PageDone; unpacked bytes have their own share (decode_room.h), and links wait for room in theirs.
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
#include "node/process/page_sync.h"

namespace orbweaver {

class Workers {
 public:
  using Done = std::function<void(PageDone)>;
  // Opens the archives (cutting off torn tails of an earlier run) and starts the threads.
  static Result<std::unique_ptr<Workers>> start(const WorkersConfig& config, const Clock& clock, const Done& done);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  void push(FetchJob job, FetchResponse response);
  // Answers queued responses that no worker has begun as not read: a stop must not wait for slow work such as the
  // user's commands.
  void cancel();
  // Finishes the queued responses and closes the archives. Returns the first error of a close.
  Result<void> stop();
  std::uint64_t syncs() const { return sync_ == nullptr ? 0 : sync_->syncs(); }         // of archive and text files
  std::uint64_t synced_pages() const { return sync_ == nullptr ? 0 : sync_->pages(); }  // that counted thereby

 private:
  Workers() = default;
  // What waits for some of the threads.
  struct Queue {
    std::deque<ReadItem> items;
    bool ends = false;  // nothing comes any more
    std::condition_variable ready;
  };
  Result<void> start_reading(PageReader& reader, Queue& queue);
  void read(PageReader& reader, ReadItem item);
  void push(Queue& queue, ReadItem item);
  std::optional<ReadItem> pop(Queue& queue);
  bool cancelled();
  void end(Queue& queue, std::size_t first, std::size_t last);

  std::mutex mutex_;
  Queue queue_;  // both guarded by mutex_
  Queue large_;
  bool cancelled_ = false;  // guarded by mutex_
  Done done_;
  std::unique_ptr<PageSync> sync_;          // with durability = power
  std::unique_ptr<SharedRepeats> repeats_;  // with --text
  std::unique_ptr<DecodeRoom> room_;
  std::unique_ptr<LinksRoom> links_;
  UserCommands user_commands_;
  std::vector<std::unique_ptr<PageReader>> readers_;  // the last one reads the large ones
  std::vector<std::thread> threads_;                  // of the readers, as far as they were started
};

}  // namespace orbweaver
