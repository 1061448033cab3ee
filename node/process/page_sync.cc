#include "node/process/page_sync.h"

#include <utility>

#include "node/errors/storage_error.h"

namespace orbweaver {
namespace {

Result<void> sync(storage::SyncedFile& file) {
  if (const storage::Result<void> synced = file.sync(); !synced) return tl::make_unexpected(error_of(synced.error()));
  return {};
}

}  // namespace

void PageSync::add(PageDone page, std::vector<SyncGroup::File> files) {
  if (files.empty()) return done_(std::move(page));  // nothing of it was written
  std::unique_lock lock(mutex_);
  if (!group_.add(std::move(page), std::move(files))) return;
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

std::uint64_t PageSync::syncs() const {
  const std::lock_guard lock(mutex_);
  return group_.syncs();
}

std::uint64_t PageSync::pages() const {
  const std::lock_guard lock(mutex_);
  return group_.pages();
}

}  // namespace orbweaver
