// A peer that has no ring yet: it asks members until one lets it in, and gives up when none answers. It answers status,
// stop and leave. Pure, as the peer is. Thread rule: one owner (the peer's loop).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "node/crawl/step.h"
#include "node/peer/ring_entry.h"

namespace orbweaver {

class Joiner {
 public:
  // `entry` is complete except for the ring's identity and settings. `known_ring`: the ring of a directory whose peer
  // had left; else all zero.
  Joiner(RingEntry entry, const ring::RingId& known_ring);

  // Writes what the directory must know at the start, so that a peer that is never let in loses none of it: its
  // identity, a recrawl that was asked for, the pages that were at work.
  Result<void> start();
  // An entry: a member has let this peer in. The peer that is made of the entry must take `event`, its welcome.
  std::optional<RingEntry> step(const Step& step, Event& event);
  Time next_deadline(Time now) const;

  const ring::PeerId& id() const { return entry_.membership.self().id; }
  const ring::RingId& known_ring() const { return known_ring_; }
  const Settings& settings() const { return entry_.start.settings.values; }
  const Lifecycle& lifecycle() const { return entry_.lifecycle; }
  void note_link_trace(std::map<std::string, std::uint64_t> counts) { entry_.link_trace = std::move(counts); }
  nlohmann::json own_status() const;
  std::vector<std::pair<std::string, double>> metrics() const;

 private:
  bool take_message(const Step& step, const MessageEvent& event);
  bool may_enter(const Step& step, const ring::Welcome& welcome);
  void answer(const Step& step, const MessageEvent& event, const ring::Ask& ask);
  void end(Time now, int code, std::string message);
  void ask_members(const Step& step);
  ring::Message message(ring::Body body) const;

  RingEntry entry_;
  ring::RingId known_ring_;
  std::vector<LogEntry> healed_;  // to be logged with the first step
  Time stepped_{};                // the last step
};

}  // namespace orbweaver
