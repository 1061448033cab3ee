// Asks members of the ring to let this peer in, until one has. A peer that knows its ring asks too, when it was started
// with the addresses of members. Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/settings/settings.h"
#include "ring/messages.h"

namespace orbweaver {

class Admission {
 public:
  // `given`: settings that the user set; they must agree with the ring's. No addresses: it asks no peer.
  Admission(std::map<std::string, std::string> given, std::vector<std::string> addresses)
      : given_(std::move(given)), addresses_(std::move(addresses)) {}

  bool asks() const { return !welcomed_ && !addresses_.empty(); }
  bool welcomed() const { return welcomed_; }
  void note_welcome() { welcomed_ = true; }
  const std::vector<std::string>& addresses() const { return addresses_; }

  // The question, when it is due, and the addresses to ask.
  bool due(Time now) const { return asks() && now >= next_; }
  ring::Join ask(Time now, const ring::Member& self, const ring::RingId& ring, const Settings& settings);
  std::optional<Time> next_deadline() const { return asks() ? std::optional(next_) : std::nullopt; }

  static constexpr Duration every = std::chrono::seconds{1};

 private:
  std::map<std::string, std::string> given_;
  std::vector<std::string> addresses_;
  bool welcomed_ = false;
  Time next_{};
};

}  // namespace orbweaver
