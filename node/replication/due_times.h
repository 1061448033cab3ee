// When something is due for which peer, so that a tick looks at those peers and at no others. Cost: logarithmic in the
// number of peers; due() also linear in what it returns. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/base.h"
#include "ring/types.h"

namespace orbweaver {

class DueTimes {
 public:
  // Replaces what was known of the peer. No time: nothing is due.
  void set(const ring::PeerId& peer, std::optional<Time> at) {
    const auto known = times_.find(peer);
    if (known != times_.end()) {
      if (at == known->second) return;
      order_.erase({known->second, peer});
    }
    if (!at) {
      if (known != times_.end()) times_.erase(known);
      return;
    }
    order_.insert({*at, peer});
    times_.insert_or_assign(peer, *at);
  }
  void clear() {
    times_.clear();
    order_.clear();
  }

  std::optional<Time> first() const { return order_.empty() ? std::nullopt : std::optional(order_.begin()->first); }
  // Adds the peers for which something is due now.
  void due(Time now, std::set<ring::PeerId>& peers) const {
    for (auto at = order_.begin(); at != order_.end() && at->first <= now; ++at) peers.insert(at->second);
  }
  std::set<ring::PeerId> due(Time now) const {
    std::set<ring::PeerId> peers;
    due(now, peers);
    return peers;
  }

 private:
  std::map<ring::PeerId, Time> times_;
  std::set<std::pair<Time, ring::PeerId>> order_;
};

}  // namespace orbweaver
