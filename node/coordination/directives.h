// What people have told the ring, which every peer knows: seeds and operators' orders. Messages carry a fingerprint of
// all of it; peers whose fingerprints differ send each other what they have. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "node/coordination/operator_orders.h"
#include "node/coordination/seed_set.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class Directives {
 public:
  // All outlive it.
  Directives(const PeerState& state, Members& members, const Messenger& messenger, RecordWriter& writer,
             AnnouncedEnd& end);
  Directives(const Directives&) = delete;  // its parts point at it
  Directives& operator=(const Directives&) = delete;

  // A visit that was not known is begun in the commit in which it becomes durable.
  using BeginVisit = std::function<void(const OperatorOrder& visit, storage::Commit& commit)>;
  void on_visit(BeginVisit begin) { begin_visit_ = std::move(begin); }

  SeedSet& seeds() { return seeds_; }
  const SeedSet& seeds() const { return seeds_; }
  const OperatorOrders& orders() const { return orders_; }
  // Why rows of an earlier run were left out.
  std::vector<std::string> restore_orders(const std::string& row);

  // Durable at once, against power cuts too. False: none of them is news.
  Result<bool> learn(const Step& step, std::vector<OperatorOrder> orders);
  // The same in a commit that is written before anything is sent.
  bool learn(std::vector<OperatorOrder> orders, storage::Commit& commit);
  // Orders of a message of another peer. What cannot be read is left out, and logged.
  Result<void> learn(const Step& step, const ring::PeerId& from, const std::vector<std::string>& texts);

  // The other peer may know other directives: then it is sent these, and sends its own for the same reason. 0: it said
  // nothing.
  void compare(const Step& step, const ring::PeerId& from, std::uint64_t fingerprint);
  // The same of a message that brought directives: its sender waits to see that they are equal now.
  void compare_brought(const Step& step, const ring::PeerId& from, std::uint64_t fingerprint);
  // Members whose last message showed other directives than these. No page is read meanwhile: a link would be judged by
  // a part of the scope, or a host be asked that an operator has blocked.
  const std::set<ring::PeerId>& differing() const { return differing_; }
  void forget_peer(const ring::PeerId& peer) {
    differing_.erase(peer);
    sent_orders_.erase(peer);
  }
  std::uint64_t fingerprint() const { return fingerprint_; }

  ring::TableSizes tables() const;

 private:
  void changed();
  void send_orders(const Step& step, const ring::PeerId& to) const;

  const PeerState* state_;
  Members* members_;
  const Messenger* messenger_;
  RecordWriter* writer_;
  AnnouncedEnd* end_;
  BeginVisit begin_visit_;
  SeedSet seeds_;
  OperatorOrders orders_;
  std::uint64_t fingerprint_ = 0;
  std::set<ring::PeerId> differing_;
  std::set<ring::PeerId> sent_orders_;  // of these, those that were sent the orders last, not the seeds
  Time next_compare_{};
};

}  // namespace orbweaver
