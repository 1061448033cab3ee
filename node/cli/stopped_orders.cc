#include "node/cli/stopped_orders.h"

#include "node/cli/peer_directories.h"
#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"
#include "node/process/directory_lock.h"
#include "node/try.h"
#include "storage/rocks_kv.h"
#include "storage/store.h"

namespace orbweaver {

namespace {

// As the peer itself would note it (own_answers.cc).
Result<void> order_one(const std::string& directory, const RecrawlWalk::Wanted& wanted) {
  const auto lock = DirectoryLock::take(directory);
  if (!lock) return tl::make_unexpected(lock.error());
  auto kv = storage::open_rocks({.directory = directory + "/store"});
  if (!kv) return tl::make_unexpected(error_of(kv.error()));
  auto store = storage::Store::open(**kv);
  if (!store) return tl::make_unexpected(error_of(store.error()));
  const auto before = store->meta(meta_name::recrawl);
  if (!before) return tl::make_unexpected(error_of(before.error()));
  Result<std::string> row = RecrawlWalk::row_with(before->value_or(""), wanted);
  if (!row) return tl::make_unexpected(row.error());
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::recrawl, std::move(*row));
  commit.meta.emplace_back(meta_name::ended, "");
  commit.synced = true;
  if (const auto written = store->commit(commit); !written) return tl::make_unexpected(error_of(written.error()));
  return {};
}

}  // namespace

Result<std::size_t> order_stopped(const std::string& directory, const RecrawlWalk::Wanted& wanted) {
  const auto directories = peer_directories(directory);
  if (!directories) return tl::make_unexpected(directories.error());
  for (const std::string& peer : *directories) ORBWEAVER_TRY(order_one(peer, wanted));
  return directories->size();
}

}  // namespace orbweaver
