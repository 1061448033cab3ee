// Under durability = power: what the peer wrote is on the disk before another peer, or a command, is told of it. The
// loop writes without waiting for the disk. A thread of its own syncs the store's journal, one sync after another, each
// for all writes until then. Messages that were ready meanwhile are held, in their order, until the writes before them
// are synced. Not held are probes, and questions and answers about turns (slots, leases): they promise nothing that is
// stored, and a slow disk must look neither like a dead peer nor like a host that no peer may ask.
// Requests to servers go on too, as long as no more than max_fetches could be repeated after a power cut: those in
// flight, and those that ended since the last sync.
// Bounded: above max_bytes of held messages the loop itself waits for the disk.
// Decision 35. Thread rule: one owner (the loop).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "node/crawl/events.h"
#include "storage/kv.h"

namespace orbweaver {

class JournalSync {
 public:
  struct Bounds {
    std::uint64_t max_bytes = 0;
    std::size_t max_fetches = 1;
  };
  // `wake`: called after each sync, on the other thread.
  JournalSync(storage::Kv& kv, Bounds bounds, std::function<void()> wake)
      : kv_(&kv), bounds_(bounds), wake_(std::move(wake)) {}
  ~JournalSync();
  JournalSync(const JournalSync&) = delete;
  // Errors: no thread.
  Result<void> start();

  // The request of a fetch that an event ends; nothing: it ends none.
  static std::optional<std::uint64_t> ended_by(const Event& event);
  // After the step that took that event.
  void note_ended(std::uint64_t fetch);
  // To be called for each command, in their order. True: it was taken, and comes back later.
  bool holds(Command& command);
  // What may leave now. To be called once a turn of the loop: it has the writes since the last call synced. Errors: of
  // a sync; nothing that is held leaves then.
  Result<Commands> take();
  // Has all writes synced, and waits for it: all that is held.
  Result<Commands> finish();
  std::uint64_t held_bytes() const { return held_bytes_; }

 private:
  struct Held {
    std::uint64_t after = 0;  // Kv::written()
    std::uint64_t bytes = 0;
    Command command;
  };
  void run();
  void release(std::uint64_t synced, Commands& ready);
  bool may_fetch() const { return flying_.size() + ended_.size() < bounds_.max_fetches; }

  storage::Kv* kv_;
  Bounds bounds_;
  std::function<void()> wake_;
  std::deque<Held> held_;
  std::uint64_t held_bytes_ = 0;
  std::deque<Command> fetches_;      // held
  std::set<std::uint64_t> flying_;   // fetches whose requests have left
  std::deque<std::uint64_t> ended_;  // of others: Kv::written() when they had ended, not synced yet

  std::mutex mutex_;
  std::condition_variable news_;
  std::uint64_t wanted_ = 0;  // guarded by mutex_, as are the next three
  std::uint64_t synced_ = 0;
  std::optional<Error> error_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace orbweaver
