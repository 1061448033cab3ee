// What this peer is about to do: crawl, leave the ring, stop, say goodbye. States and transitions only; their effects
// happen where the states are asked for. Thread rule: one owner (the peer's loop).
//
//   running -> leaving -> leaving_now -> saying_goodbye -> exited
//           -> stopping --------------->
//
// A stop ends a leave. When the store or the archive fails, the core ends the process whatever the state (core.h).
#pragma once

#include <optional>
#include <utility>

#include "node/crawl/events.h"

namespace orbweaver {

// Between the last message to the others and the end of the process: the transport has sent it by then.
inline constexpr Duration exit_linger = std::chrono::milliseconds{300};

inline constexpr Duration max_drain = std::chrono::seconds{3};

class Lifecycle {
 public:
  enum class State : std::uint8_t {
    running,
    leaving,         // hands its partitions over
    leaving_now,     // has handed over what it could: what is in flight is cancelled
    stopping,        // what is in flight is cancelled, and everything stays here
    saying_goodbye,  // the last messages to the others are being sent
    exited,
  };

  // Hands over until `until`. False: it is doing something else already.
  bool leave(Time until) {
    if (state_ != State::running) return false;
    state_ = State::leaving;
    leave_by_ = until;
    return true;
  }
  void leave_now() {
    if (state_ == State::leaving) state_ = State::leaving_now;
  }
  void stop() {
    if (!ending()) state_ = State::stopping;
  }
  // It no longer leaves, and its goodbye does not mention leaving.
  void stay() {
    if (leaving() && !ending()) state_ = State::running;
  }
  // A stop waits for what only this peer knows to reach others, but no longer than this. True: it has waited that long.
  bool has_drained(Time now) {
    if (!drain_until_) drain_until_ = now + max_drain;
    return now >= *drain_until_;
  }
  // The process ends at `until`, with `exit`. The first one counts.
  void say_goodbye(Exit exit, Time until) {
    if (ending()) return;
    before_ = std::exchange(state_, State::saying_goodbye);
    exit_ = std::move(exit);
    exit_at_ = until;
  }
  void exit_by(Time until) { exit_at_ = until; }
  // How the process ends, once the goodbye is over; else null.
  const Exit* end_if_due(Time now) {
    if (!saying_goodbye() || now < exit_at_) return nullptr;
    state_ = State::exited;
    return &exit_;
  }

  // What is being fetched may be cancelled.
  bool stopping() const { return intent() == State::stopping || intent() == State::leaving_now; }
  bool leaving() const { return intent() == State::leaving || intent() == State::leaving_now; }
  bool saying_goodbye() const { return state_ == State::saying_goodbye; }
  bool ending() const { return state_ == State::saying_goodbye || state_ == State::exited; }
  bool has_exited() const { return state_ == State::exited; }
  Time leave_by() const { return leave_by_; }
  Time exit_at() const { return exit_at_; }   // while it says goodbye
  const Exit& exit() const { return exit_; }  // likewise
  bool crawl_finished() const { return saying_goodbye() && exit_.finished; }
  // When a leave or a stop waits no longer. Fetches that are being cancelled have no deadline here: they end by
  // themselves.
  std::optional<Time> next_deadline() const {
    if (ending()) return std::nullopt;
    return state_ == State::leaving ? std::optional(leave_by_) : drain_until_;
  }

 private:
  // The state that led to the goodbye, while that lasts; else the present state.
  State intent() const { return state_ == State::saying_goodbye ? before_ : state_; }

  State state_ = State::running;
  State before_ = State::running;
  Time leave_by_{};
  Time exit_at_{};
  std::optional<Time> drain_until_;
  Exit exit_;
};

}  // namespace orbweaver
