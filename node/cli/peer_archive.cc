#include "node/cli/peer_archive.h"

#include <sstream>

#include "node/archive/wacz.h"
#include "node/cli/archived_pages.h"
#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"
#include "storage/rocks_kv.h"
#include "storage/store.h"

namespace orbweaver {

Result<PeerArchive> peer_archive(const std::string& directory) {
  storage::RocksConfig config;
  config.directory = directory + "/store";
  config.look_only = true;
  const auto kv = storage::open_rocks(config);
  if (!kv) return tl::make_unexpected(error_of(kv.error()));
  auto store = storage::Store::open(**kv);
  if (!store) return tl::make_unexpected(error_of(store.error()));
  const auto id = store->meta(meta_name::peer);
  if (!id) return tl::make_unexpected(error_of(id.error()));
  const auto seeds = store->meta(meta_name::seeds);
  if (!seeds) return tl::make_unexpected(error_of(seeds.error()));
  PeerArchive archive{.id = id->value_or(""), .seeds = {}, .files = {}};
  if (archive.id.empty()) return fail(ErrorCode::unreachable, directory + " has never been a peer of a ring");
  std::istringstream lines(seeds->value_or(""));
  for (std::string line; std::getline(lines, line);) archive.seeds.insert(std::move(line));
  auto files = archive_files(directory);
  if (!files) return tl::make_unexpected(files.error());
  archive.files = std::move(*files);
  return archive;
}

std::string package_name(const PeerArchive& archive) {
  return "orbweaver-" + archive.id.substr(0, 8) + archive::wacz_ending;
}

}  // namespace orbweaver
