#include "node/cli/stopped_orders.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "node/cli/peer_directories.h"
#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"
#include "node/links/recrawl_walk.h"
#include "node/peer/order_request.h"
#include "node/process/directory_lock.h"
#include "node/system/clock.h"
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
  std::string id{};  // its peer's, in hex
  OperatorOrders orders{};
  std::string walks{};  // the row of its visits, as it is to be
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
    here.insert(peer.id);
  }
  for (const std::string& member : members)
    if (!here.contains(member))
      return fail(ErrorCode::unreachable, "the ring of " + directory + " has other peers, such as " +
                                              member.substr(0, 8) +
                                              ": start the peers, or name one that runs with --peer ADDR:PORT");
  return {};
}

Result<std::vector<Opened>> open_all(const std::string& directory) {
  const auto directories = peer_directories(directory);
  if (!directories) return tl::make_unexpected(directories.error());
  std::vector<Opened> peers;
  for (const std::string& one : *directories) {
    Result<Opened> opened = open_one(one);
    if (!opened) return tl::make_unexpected(opened.error());
    const Result<std::string> id = row_of(opened->store, meta_name::peer);
    const Result<std::string> orders = row_of(opened->store, meta_name::orders);
    if (!id) return tl::make_unexpected(id.error());
    if (!orders) return tl::make_unexpected(orders.error());
    opened->id = *id;
    opened->orders.restore(*orders);
    peers.push_back(std::move(*opened));
  }
  return peers;
}

OperatorOrders all_of(const std::vector<Opened>& peers) {
  OperatorOrders all;
  for (const Opened& peer : peers)
    for (const auto& [name, order] : peer.orders.all()) all.take(order);
  all.settle();
  return all;
}

// With the settings that the ring was made with.
Result<OperatorOrder> read_order(const std::string& verb, const nlohmann::json& body, Opened& first,
                                 const OperatorOrders& known) {
  Settings settings = default_settings();
  const Result<std::string> stored = row_of(first.store, meta_name::settings);
  if (!stored) return tl::make_unexpected(stored.error());
  try {
    const auto values = nlohmann::json::parse(stored->empty() ? "[]" : *stored).get<ring::Settings>();
    ORBWEAVER_TRY(apply_ring_wide(settings, values));
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::io, first.directory + ": the ring's settings cannot be read: " + error.what());
  }
  const auto id = ring::PeerId::from_hex(first.id);
  if (!id) return fail(ErrorCode::io, first.directory + ": the peer's identity cannot be read");
  return read_order_request(verb, body, {Canonicaliser(settings), known, *id, Clock().now()});
}

}  // namespace

Result<std::size_t> order_stopped(const std::string& directory, const std::string& verb, const nlohmann::json& body) {
  Result<std::vector<Opened>> opened = open_all(directory);
  if (!opened) return tl::make_unexpected(opened.error());
  std::vector<Opened>& peers = *opened;
  ORBWEAVER_TRY(check_whole(peers, directory));
  const OperatorOrders known = all_of(peers);
  const Result<OperatorOrder> order = read_order(verb, body, peers.front(), known);
  if (!order) return tl::make_unexpected(order.error());
  if (!known.has_room_for(*order)) return fail(ErrorCode::invalid_input, std::string(OperatorOrders::full_words));
  const bool visit = order->kind() == OperatorOrder::Kind::visit;
  // Nothing is written before all can be: a copy would be visited again whose holder is not.
  for (Opened& peer : peers) {
    const bool fresh = !peer.orders.contains(order->name);
    peer.orders.take(*order);
    peer.orders.settle();
    const Result<std::string> before = row_of(peer.store, meta_name::recrawl);
    if (!before) return tl::make_unexpected(before.error());
    peer.walks = *before;
    if (!visit || !fresh) continue;
    const auto wanted = RecrawlWalk::read_order(*order);
    if (!wanted) return tl::make_unexpected(wanted.error());
    Result<std::string> row = RecrawlWalk::row_with(*before, *wanted);
    if (!row) return tl::make_unexpected(row.error());
    peer.walks = std::move(*row);
  }
  // As a peer itself notes it (directives.cc).
  for (Opened& peer : peers) {
    storage::Commit commit;
    commit.meta.emplace_back(meta_name::orders, peer.orders.row());
    if (visit) commit.meta.emplace_back(meta_name::recrawl, std::move(peer.walks));
    if (visit) commit.meta.emplace_back(meta_name::ended, "");
    commit.synced = true;
    if (const auto written = peer.store.commit(commit); !written) return tl::make_unexpected(error_of(written.error()));
  }
  return peers.size();
}

}  // namespace orbweaver
