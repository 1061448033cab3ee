// Pages whose archive records and lines of text are written, but not yet on the disk: under durability = power they do
// not count before that. Pages share syncs: all that were written before a sync begins count when it ends. Pages that
// are written meanwhile are the next one's. A page that comes alone waits for its own sync only.
//
// Cost: a page is moved twice. Memory: pages keep their charges, so max_memory and max_fetches bound them.
// Thread rule: one owner at a time; node/process/page_sync.h guards it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "node/crawl/events.h"
#include "storage/synced_file.h"

namespace orbweaver {

class SyncGroup {
 public:
  using File = std::shared_ptr<storage::SyncedFile>;

  // A page that is written, to these files. True: no sync is in progress, and the caller leads: it calls begin(), syncs
  // the files and calls end(), again and again until begin() has none.
  [[nodiscard]] bool add(PageDone page, std::vector<File> files);
  // The files of all pages that wait, each once. Empty: no page waits, and the lead is over.
  std::vector<File> begin();
  // `synced`: what came of each file that begin() gave. Returns the pages that were written before that begin(): they
  // count now. A page with a file that failed is NotWritten.
  std::vector<PageDone> end(const std::vector<Result<void>>& synced);

  std::uint64_t syncs() const { return syncs_; }  // of files, without failed ones
  std::uint64_t pages() const { return pages_; }  // that counted thereby

 private:
  struct Waiting {
    PageDone page;
    std::vector<File> files;
  };

  std::vector<Waiting> written_;  // since the last begin()
  std::vector<Waiting> syncing_;
  std::vector<File> files_;  // of those in syncing_, each once
  bool led_ = false;
  std::uint64_t syncs_ = 0;
  std::uint64_t pages_ = 0;
};

}  // namespace orbweaver
