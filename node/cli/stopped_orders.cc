#include "node/cli/stopped_orders.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "node/cli/peer_directories.h"
#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"
#include "node/process/directory_lock.h"
#include "node/try.h"
#include "ring/codec.h"
#include "storage/rocks_kv.h"
#include "storage/store.h"

namespace orbweaver {

namespace {

// One peer's store, with its row as it is to be.
struct Opened {
  std::string directory;
  DirectoryLock lock;
  std::unique_ptr<storage::Kv> kv;
  storage::Store store;
  std::string row{};
};

Result<Opened> open_one(const std::string& directory) {
  auto lock = DirectoryLock::take(directory);
  if (!lock) return tl::make_unexpected(lock.error());
  auto kv = storage::open_rocks({.directory = directory + "/store"});
  if (!kv) return tl::make_unexpected(error_of(kv.error()));
  auto store = storage::Store::open(**kv);
  if (!store) return tl::make_unexpected(error_of(store.error()));
  return Opened{directory, std::move(*lock), std::move(*kv), std::move(*store)};
}

Result<std::string> row_of(storage::Store& store, std::string_view name) {
  const auto row = store.meta(name);
  if (!row) return tl::make_unexpected(error_of(row.error()));
  return row->value_or("");
}

// Members that a store knows, without those that have left.
Result<void> add_members(storage::Store& store, std::set<std::string>& members) {
  const Result<std::string> row = row_of(store, meta_name::members);
  if (!row) return tl::make_unexpected(row.error());
  if (row->empty()) return {};
  const auto message = ring::decode(*row);
  const ring::Sync* view = message ? std::get_if<ring::Sync>(&message->body) : nullptr;
  if (view == nullptr) return {};
  for (const ring::Member& member : view->members)
    if (member.state != ring::MemberState::left) members.insert(member.id.hex());
  return {};
}

// A peer elsewhere may run, and would not know of the order.
Result<void> check_whole(std::vector<Opened>& peers, const std::string& directory) {
  std::set<std::string> members, here;
  for (Opened& peer : peers) {
    ORBWEAVER_TRY(add_members(peer.store, members));
    const Result<std::string> id = row_of(peer.store, meta_name::peer);
    if (!id) return tl::make_unexpected(id.error());
    here.insert(*id);
  }
  for (const std::string& member : members)
    if (!here.contains(member))
      return fail(ErrorCode::unreachable, "the ring of " + directory + " has other peers, such as " +
                                              member.substr(0, 8) +
                                              ": start the peers, or name one that runs with --peer ADDR:PORT");
  return {};
}

}  // namespace

Result<std::size_t> order_stopped(const std::string& directory, const RecrawlWalk::Wanted& wanted) {
  const auto directories = peer_directories(directory);
  if (!directories) return tl::make_unexpected(directories.error());
  std::vector<Opened> peers;
  for (const std::string& one : *directories) {
    Result<Opened> opened = open_one(one);
    if (!opened) return tl::make_unexpected(opened.error());
    peers.push_back(std::move(*opened));
  }
  ORBWEAVER_TRY(check_whole(peers, directory));
  // Nothing is written before all can be: a copy would be visited again whose holder is not.
  for (Opened& peer : peers) {
    const Result<std::string> before = row_of(peer.store, meta_name::recrawl);
    if (!before) return tl::make_unexpected(before.error());
    Result<std::string> row = RecrawlWalk::row_with(*before, wanted);
    if (!row) return tl::make_unexpected(row.error());
    peer.row = std::move(*row);
  }
  // As a peer itself notes it (own_answers.cc).
  for (Opened& peer : peers) {
    storage::Commit commit;
    commit.meta.emplace_back(meta_name::recrawl, std::move(peer.row));
    commit.meta.emplace_back(meta_name::ended, "");
    commit.synced = true;
    if (const auto written = peer.store.commit(commit); !written) return tl::make_unexpected(error_of(written.error()));
  }
  return peers.size();
}

}  // namespace orbweaver
