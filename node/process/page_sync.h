// Under durability = power: brings written pages to the disk before they count, as node/crawl/sync_group.h groups them.
// A thread of its own syncs, and the workers go on reading: a peer with one worker reads other hosts' pages meanwhile.
// Thread rule: any thread, but for start() and stop(); `done` runs on the thread that syncs, without a lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "node/crawl/sync_group.h"

namespace orbweaver {

class PageSync {
 public:
  explicit PageSync(std::function<void(PageDone)> done) : done_(std::move(done)) {}
  ~PageSync() { stop(); }
  PageSync(const PageSync&) = delete;
  // Errors: no thread.
  Result<void> start();
  // Returns at once. The page counts when its files are synced.
  void add(PageDone page, std::vector<SyncGroup::File> files);
  // When no thread adds pages any more. No page waits when it returns.
  void stop();
  std::uint64_t syncs() const;  // of files
  std::uint64_t pages() const;  // that counted thereby

 private:
  void run();

  const std::function<void(PageDone)> done_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  SyncGroup group_;  // guarded by mutex_, as are the next two
  bool leads_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace orbweaver
