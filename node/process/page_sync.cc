#include "node/process/page_sync.h"

#include <utility>

#include "node/errors/storage_error.h"
#include "node/system/thread_start.h"

namespace orbweaver {
namespace {

Result<void> sync(storage::SyncedFile& file) {
  if (const storage::Result<void> synced = file.sync(); !synced) return tl::make_unexpected(error_of(synced.error()));
  return {};
}

}  // namespace

Result<void> PageSync::start() {
  return start_thread(thread_, [this] { run(); });
}

void PageSync::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void PageSync::add(PageDone page, std::vector<SyncGroup::File> files) {
  if (files.empty()) return done_(std::move(page));  // nothing of it was written
  {
    const std::lock_guard lock(mutex_);
    if (!group_.add(std::move(page), std::move(files))) return;
    leads_ = true;
  }
  news_.notify_one();
}

void PageSync::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [this] { return leads_ || stop_; });
    if (!std::exchange(leads_, false)) return;
    for (std::vector<SyncGroup::File> wanted = group_.begin(); !wanted.empty(); wanted = group_.begin()) {
      lock.unlock();
      std::vector<Result<void>> synced;
      for (const SyncGroup::File& file : wanted) synced.push_back(sync(*file));
      lock.lock();
      std::vector<PageDone> pages = group_.end(synced);
      lock.unlock();
      for (PageDone& counts : pages) done_(std::move(counts));
      lock.lock();
    }
  }
}

std::uint64_t PageSync::syncs() const {
  const std::lock_guard lock(mutex_);
  return group_.syncs();
}

std::uint64_t PageSync::pages() const {
  const std::lock_guard lock(mutex_);
  return group_.pages();
}

}  // namespace orbweaver
