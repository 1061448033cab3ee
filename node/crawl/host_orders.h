// What operators have ordered about hosts (docs/how-to/steer.md), ready to be asked at each turn of a host. Pure.
// Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

struct HostOrder {
  bool paused = false;            // not asked for now; what is queued stays queued
  bool blocked = false;           // not asked for at all; what is queued is excluded
  std::optional<Duration> delay;  // in place of that of the settings and of `sites`

  bool operator==(const HostOrder&) const = default;
};

struct HostOrders {
  using Orders = std::map<std::string, HostOrder, std::less<>>;
  bool ring_paused = false;  // no host is asked
  Orders hosts;
  Orders below;  // by the text after "*.": of that host and all below it

  // All that is ordered of it. Of delays that of the host itself counts, then that of the longest pattern. Cost: one
  // look-up per label of the host; nothing while there are no orders.
  HostOrder of(std::string_view host) const;
};

}  // namespace orbweaver
