// Batches that were sent to one peer and are not answered yet: how many there may be, when each is sent again, and
// which batch an answer is about. OutboxSender, Replicator and Transfers have one window for each peer that they send
// to. They decide which records go into a batch, in which order, and what an acknowledgement means.
//
// A batch leaves the window when it is acknowledged, when it is refused, or when its sender takes it back. Until then
// it is sent again with the same sequence: after `timeout`, then after twice that, then each time after four times
// that. So a slow line or a busy receiver does not get the same bytes faster than it can take them. A batch for which
// the receiver has no room goes again after refusal_wait, then after twice that, and so on up to `timeout`: a busy
// receiver answers late, and answers each copy. Each time something has to be sent again the window narrows to
// half, at least to one batch; each acknowledgement widens it by one (AIMD, as in RFC 5681). So many senders together
// do not keep a receiver overloaded. The records of a batch are shared: sending it again copies none of them.
//
// Bounds: max_in_flight batches, if the sender asks open() first. Cost: logarithmic in that number, except for
// resend(), next_deadline() and walks. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "node/base.h"
#include "ring/messages.h"

namespace orbweaver {

struct BatchLimits {
  std::size_t max_records = 1024;     // in one batch
  std::size_t max_bytes = 256 << 10;  // of its records; the record that reaches this is the batch's last
  std::size_t max_in_flight = 4;      // batches to one peer
  Duration timeout =
      Duration{std::chrono::seconds{5}};  // without an answer a batch is sent again after this long, at first

  bool has_room(std::size_t records, std::size_t bytes) const { return records < max_records && bytes < max_bytes; }
};

struct BatchOut {
  ring::PeerId to;
  ring::Batch batch;
};

// `Content`: what the sender remembers about a batch.
template <class Content>
class BatchWindow {
 public:
  struct Flight {
    ring::Batch batch;
    Content content;
    Time sent{};          // the last time
    Duration patience{};  // since then, before it is sent again
    Duration wait{};      // likewise, when the receiver has no room the next time
  };
  // By sequence. A sender takes sequences from one rising counter, so this is the order of their first sending.
  using Flights = std::map<std::uint64_t, Flight>;

  explicit BatchWindow(const BatchLimits& limits) : limits_(limits), width_(limits.max_in_flight) {}

  bool has_room() const { return flights_.size() < width_; }
  std::size_t width() const { return width_; }  // batches
  // After a refusal the sender waits until both views agree again.
  Time not_before() const { return not_before_; }
  // Another batch may be sent now.
  bool open(Time now) const { return has_room() && now >= not_before_; }

  // Adds a new batch; the caller sends what is returned. Its sequence must not be in the window.
  ring::Batch add(Time now, ring::Batch batch, Content content) {
    const std::uint64_t sequence = batch.sequence;
    return flights_
        .emplace(sequence, Flight{std::move(batch), std::move(content), now, limits_.timeout,
                                  std::min<Duration>(ring::refusal_wait, limits_.timeout)})
        .first->second.batch;
  }
  // Sends again the batches that have waited long enough, lowest sequence first. `refresh(batch)` may update its head.
  template <class Refresh>
  void resend(Time now, const ring::PeerId& to, Refresh refresh, std::vector<BatchOut>& out) {
    const std::size_t before = out.size();
    for (auto& [sequence, flight] : flights_) {
      if (now - flight.sent < flight.patience) continue;
      flight.sent = now;
      flight.patience = std::clamp(2 * flight.patience, limits_.timeout, max_patience * limits_.timeout);
      refresh(flight.batch);
      out.push_back({to, flight.batch});
    }
    if (out.size() > before) width_ = std::max<std::size_t>(1, width_ / 2);
  }
  // When resend() has something to do next.
  std::optional<Time> next_deadline() const {
    std::optional<Time> earliest;
    for (const auto& [sequence, flight] : flights_) {
      const Time at = flight.sent + flight.patience;
      earliest = earliest ? std::min(*earliest, at) : at;
    }
    return earliest;
  }

  // Answers. Return the batch, which leaves the window; nothing when the answer is late or for another sender.
  std::optional<Flight> acknowledged(std::uint64_t sequence) {
    std::optional<Flight> flight = take(sequence);
    if (flight) width_ = std::min(width_ + 1, limits_.max_in_flight);
    return flight;
  }
  std::optional<Flight> refused(std::uint64_t sequence, Time now) {
    std::optional<Flight> flight = take(sequence);
    if (flight) not_before_ = now + ring::refusal_wait;
    return flight;
  }

  // The receiver has no room now: the batch is sent again, each time later. False: it is not in the window.
  bool pushed_back(std::uint64_t sequence, Time now) {
    const auto found = flights_.find(sequence);
    if (found == flights_.end()) return false;
    found->second.sent = now;
    found->second.patience = found->second.wait;
    found->second.wait = std::min(2 * found->second.wait, limits_.timeout);
    return true;
  }

  bool empty() const { return flights_.empty(); }
  std::size_t size() const { return flights_.size(); }
  const Flights& flights() const { return flights_; }
  // `change(content)` of every batch.
  template <class Change>
  void change_contents(Change change) {
    for (auto& [sequence, flight] : flights_) change(flight.content);
  }
  // The sender takes back all batches, or those that are due to be sent again and `unwanted(content)`.
  void clear() { flights_.clear(); }
  template <class Unwanted>
  void drop_late(Time now, Unwanted unwanted) {
    std::erase_if(flights_, [&](const auto& entry) {
      return now - entry.second.sent >= entry.second.patience && unwanted(entry.second.content);
    });
  }

 private:
  std::optional<Flight> take(std::uint64_t sequence) {
    const auto found = flights_.find(sequence);
    if (found == flights_.end()) return std::nullopt;
    std::optional<Flight> flight = std::move(found->second);
    flights_.erase(found);
    return flight;
  }

  static constexpr int max_patience = 4;  // timeouts

  BatchLimits limits_;
  std::size_t width_;  // batches that may be in flight now
  Flights flights_;
  Time not_before_{};
};

}  // namespace orbweaver
