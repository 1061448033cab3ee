#include "node/crawl/sync_group.h"

#include <algorithm>
#include <utility>

namespace orbweaver {

bool SyncGroup::add(PageDone page, std::vector<File> files) {
  written_.push_back({std::move(page), std::move(files)});
  return !std::exchange(led_, true);
}

std::vector<SyncGroup::File> SyncGroup::begin() {
  syncing_ = std::exchange(written_, {});
  files_.clear();
  for (const Waiting& waiting : syncing_)
    for (const File& file : waiting.files)
      if (std::find(files_.begin(), files_.end(), file) == files_.end()) files_.push_back(file);
  led_ = !syncing_.empty();
  return files_;
}

std::vector<PageDone> SyncGroup::end(const std::vector<Result<void>>& synced) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (synced[i]) {
      ++syncs_;
      continue;
    }
    for (Waiting& waiting : syncing_)
      if (std::find(waiting.files.begin(), waiting.files.end(), files_[i]) != waiting.files.end())
        waiting.page.what = NotWritten{synced[i].error()};
  }
  std::vector<PageDone> pages;
  pages.reserve(syncing_.size());
  for (Waiting& waiting : syncing_) {
    if (!std::holds_alternative<NotWritten>(waiting.page.what)) ++pages_;
    pages.push_back(std::move(waiting.page));
  }
  syncing_.clear();
  files_.clear();
  return pages;
}

}  // namespace orbweaver
