// Under durability = power: brings written pages to the disk before they count, as node/crawl/sync_group.h groups them.
// No thread of its own: the worker that comes first syncs for all, and the others go on reading. Thread rule: any
// thread; `done` runs on the thread that syncs, without a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "node/crawl/sync_group.h"

namespace orbweaver {

class PageSync {
 public:
  explicit PageSync(std::function<void(PageDone)> done) : done_(std::move(done)) {}
  // Returns at once when another thread syncs; else when no page waits any more. So no page waits when all threads that
  // were in here have left.
  void add(PageDone page, std::vector<SyncGroup::File> files);
  std::uint64_t syncs() const;  // of files
  std::uint64_t pages() const;  // that counted thereby

 private:
  const std::function<void(PageDone)> done_;
  mutable std::mutex mutex_;
  SyncGroup group_;  // guarded by mutex_
};

}  // namespace orbweaver
