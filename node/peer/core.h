// A peer's core. The loop feeds it with events and carries out its commands, in order; the simulator does the
// same. Pure: step(now, event, commands); no socket, clock, thread or random device; the only thing that it calls
// is the store. Before its ring is known it is a Joiner, then a Peer, once. Thread rule: one owner (the peer's
// loop).
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "node/peer/joiner.h"
#include "node/peer/peer.h"
#include "node/peer/peer_start.h"
#include "node/settings/memory_plan.h"

namespace orbweaver {

class Core {
 public:
  // Reads what an earlier run left in the store; otherwise makes a ring, or prepares to join one. Errors name the
  // setting that differs from the ring's, or what in the directory cannot be read.
  static Result<std::unique_ptr<Core>> open(PeerStart start, storage::Store& store, Time now);

  void step(Time now, Event event, Commands& out);
  // When to step again (with a TickEvent) if nothing else happens.
  Time next_deadline(Time now) const { return peer_ ? peer_->next_deadline(now) : joiner_->next_deadline(now); }

  const ring::PeerId& id() const { return peer_ ? peer_->id() : joiner_->id(); }
  // All zero: not known yet.
  const ring::RingId& ring_id() const { return peer_ ? peer_->ring_id() : joiner_->known_ring(); }
  const Settings& settings() const { return peer_ ? peer_->settings() : joiner_->settings(); }
  bool has_ring() const { return peer_ != nullptr; }
  // This peer is in the ring: neither joining nor leaving.
  bool is_member() const { return peer_ && peer_->is_member(); }
  // What is being fetched may be cancelled.
  bool stopping() const { return lifecycle().stopping(); }
  // It says goodbye, or has ended.
  bool ending() const { return lifecycle().ending(); }
  // The partition's hosts may be asked by this peer now.
  bool fetches(ring::Partition partition) const { return peer_ && peer_->fetches(partition); }
  // What operators have ordered about hosts, as this peer knows it.
  const HostOrders& orders() const { return peer_ ? peer_->orders() : no_orders_; }
  // As this peer knows it; empty: it has no ring yet.
  const ring::HashRing& ring() const { return peer_ ? peer_->ring() : no_ring_; }
  const ring::Tenures& tenures() const { return peer_ ? peer_->tenures() : no_tenures_; }

  // What the loop has recorded of links, for own_status() and metrics(): pages, links, bytes, files_removed.
  void note_link_trace(std::map<std::string, std::uint64_t> counts);
  // What parts of this peer use now, by the names of MemoryPlan::shares(), as far as it is known here.
  std::map<std::string_view, std::uint64_t> memory_use() const;
  // The use of all shares as the loop has found it, for own_status().
  void note_use(MemoryUse memory, ProcessUse process);
  nlohmann::json own_status() const;
  // How many entries the peer's tables have; none while it has no ring.
  ring::TableSizes tables() const { return peer_ ? peer_->tables() : ring::TableSizes{}; }
  std::vector<std::pair<std::string, double>> metrics() const {
    return peer_ ? peer_->status().metrics() : joiner_->metrics();
  }

 private:
  Core(const storage::Store& store, std::uint32_t partitions) : store_(&store), no_tenures_(partitions) {}
  const Lifecycle& lifecycle() const { return peer_ ? peer_->lifecycle() : joiner_->lifecycle(); }
  Result<void> take(const Step& step, Event& event);
  Result<void> take_read(const Step& step, Event& event);

  const storage::Store* store_;
  std::unique_ptr<Joiner> joiner_;  // one of these two
  std::unique_ptr<Peer> peer_;
  ring::Tenures no_tenures_;  // a joiner's, as is its ring
  ring::HashRing no_ring_;
  HostOrders no_orders_;
  bool failed_ = false;
};

}  // namespace orbweaver
