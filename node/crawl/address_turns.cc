#include "node/crawl/address_turns.h"

#include <algorithm>

namespace orbweaver {

AddressTurns::Turn AddressTurns::ask(std::string_view address, Duration good, Time since, Time now) {
  if (now >= next_look_) forget(now);
  const Duration apart = delay_ + std::clamp(good, good_for(), std::max(horizon, good_for()));
  auto found = addresses_.find(address);
  if (found == addresses_.end()) {
    if (addresses_.size() >= addresses_max) return {false, now + horizon};
    const Time first = since == Time{} ? now : std::max(now, since + horizon + std::max(horizon, good_for()) + delay_);
    found = addresses_.emplace(std::string(address), Address{first, first}).first;
  }
  Address& slot = found->second;
  const Time at = std::max(slot.free, now);
  if (at <= now + horizon) {
    slot.free = at + apart;
    return {true, at};
  }
  // Those turned away come back one by one, each when the turn that would be its own is within reach.
  slot.told = std::max(slot.told, at) + apart;
  return {false, slot.told - horizon / 2};
}

void AddressTurns::forget(Time now) {
  std::erase_if(addresses_, [&](const auto& entry) { return std::max(entry.second.free, entry.second.told) <= now; });
  next_look_ = now + horizon;
}

}  // namespace orbweaver
