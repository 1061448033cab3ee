#include "node/scheduling/address_slots.h"

#include <algorithm>

namespace orbweaver {

namespace {

// A loop that is busy is late by a few milliseconds; a slot that is missed is lost to the address.
constexpr Duration late = std::chrono::milliseconds{5};

}  // namespace

Duration AddressSlotBook::good_for(Duration delay, Duration wished) {
  return std::clamp(wished, std::min({delay / 4, std::max(delay / 20, late), horizon}), horizon);
}

AddressSlotBook::Slot AddressSlotBook::ask(std::string_view address, const Ask& ask, Time since, Time now) {
  if (now >= next_look_) forget(now);
  const Duration delay = ask.delay > Duration{} ? std::min(ask.delay, delay_) : delay_;
  const Duration good = good_for(delay, ask.good_for);
  auto found = addresses_.find(address);
  if (found == addresses_.end()) {
    if (addresses_.size() >= max_addresses) return {false, now + horizon};
    found = addresses_.emplace(std::string(address), Address{{}, ask.asker, now, now, now}).first;
  }
  Address& slot = found->second;
  if (slot.owned_since != since) {
    // Between two times of this owner another may have given slots: the last of them horizon ahead, valid for as long,
    // and reserved for the ring's delay.
    const Time first = since + 2 * horizon + delay_;
    slot.owned_since = since;
    for (Time* const time : {&slot.free_to_last, &slot.free, &slot.ask_again}) *time = std::max(*time, first);
  }
  const bool again = slot.last == ask.asker;
  const Time at = std::max({again ? slot.free_to_last : slot.free, now, now + ask.in});
  if (at <= now + horizon) {
    slot.free_to_last = at + delay;
    slot.free = std::max(slot.free, at + good + delay);
    slot.last = ask.asker;
    return {true, at};
  }
  // Askers that are turned away come back one by one, each when the slot that would be its own is within reach.
  slot.ask_again = std::max(slot.ask_again, at) + delay;
  return {false, slot.ask_again - horizon / 2};
}

void AddressSlotBook::forget(Time now) {
  std::erase_if(addresses_,
                [&](const auto& entry) { return std::max(entry.second.free, entry.second.ask_again) <= now; });
  next_look_ = now + horizon;
}

Time OwnRequests::next(std::string_view address) const {
  const auto found = next_.find(address);
  return found == next_.end() ? Time{} : found->second;
}

void OwnRequests::begins(std::string_view address, Duration delay, Time now) {
  if (next_.size() >= look_at_) {
    std::erase_if(next_, [now](const auto& entry) { return entry.second <= now; });
    look_at_ = std::max<std::size_t>(64, 2 * next_.size());
  }
  const auto found = next_.find(address);
  if (found == next_.end()) {
    next_.emplace(std::string(address), now + delay);
  } else {
    found->second = std::max(found->second, now + delay);
  }
}

}  // namespace orbweaver
