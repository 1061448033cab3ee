// Which pages are at work: with a worker, or in the core while it commits them. They are listed in a small file that is
// mapped into memory, so a page costs two stores of a few bytes and no system call, and the list survives the process
// however it dies. After an unclean end the pages that were at work are suspects: one of them may have killed the
// crawler. (The peer counts them, and gives up pages that were at work at two ends in a row.)
//
// File: 16 bytes "orbweaver-work 1", then places of 32 bytes: u8 state (0 free, 1 waits, 2 at work), u16 partition
// (little-endian), 8 bytes of the host's digest, 16 of the URL's. A clean end removes it. It is not synced: a power
// failure is not a page's fault. Thread rule: open() and close() by the loop; a mark by any one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/crawl/events.h"
#include "storage/store.h"

namespace orbweaver {

class InFlight;

// A page's place in the file, freed when this is destroyed.
class InFlightMark {
 public:
  InFlightMark() = default;
  InFlightMark(InFlightMark&& other) noexcept
      : in_flight_(std::exchange(other.in_flight_, nullptr)), place_(other.place_) {}
  InFlightMark& operator=(InFlightMark&& other) noexcept {
    release();
    in_flight_ = std::exchange(other.in_flight_, nullptr);
    place_ = other.place_;
    return *this;
  }
  ~InFlightMark() { release(); }
  void at_work();
  void waits();  // in a queue: if the process dies now, this page is not the cause

 private:
  friend class InFlight;
  InFlightMark(InFlight* in_flight, std::uint32_t place) : in_flight_(in_flight), place_(place) {}
  void release();

  InFlight* in_flight_ = nullptr;
  std::uint32_t place_ = 0;
};

class InFlight {
 public:
  // `pages`: how many pages may be marked at once; further pages stay unmarked. Errors: io, disk_full.
  static Result<std::unique_ptr<InFlight>> open(const std::string& path, std::size_t pages);
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  // The pages that were at work when the last process ended uncleanly.
  const std::vector<storage::UrlKey>& left() const { return left_; }
  // Frees all places, including those that only an earlier run had: the pages that were left are stored elsewhere.
  void clear();
  // Marks the page as at work.
  InFlightMark begin(const storage::UrlKey& page);
  // Marks the end as clean.
  void close();

 private:
  friend class InFlightMark;
  friend class InFlightPause;
  InFlight() = default;
  std::atomic_ref<unsigned char> state(std::uint32_t place);
  void set_state(std::uint32_t place, std::uint8_t state);
  void free(std::uint32_t place);

  std::string path_;
  unsigned char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::vector<storage::UrlKey> left_;
  std::vector<std::atomic<std::thread::id>> at_work_by_;  // by place: the thread, if it is at work
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;  // guarded by mutex_
};

// While this object exists, this thread's pages do not count as at work: the thread is waiting for something else, such
// as memory or a descriptor, however long that takes.
class InFlightPause {
 public:
  // Null: nothing is marked.
  explicit InFlightPause(InFlight* in_flight);
  ~InFlightPause();
  InFlightPause(const InFlightPause&) = delete;
  InFlightPause& operator=(const InFlightPause&) = delete;

 private:
  InFlight* const in_flight_;
  std::vector<std::uint32_t> places_;
};

// The mark through the interface that the core knows.
PageMark for_core(InFlightMark mark);

inline void InFlightMark::at_work() {
  if (in_flight_ != nullptr) in_flight_->set_state(place_, 2);
}
inline void InFlightMark::waits() {
  if (in_flight_ != nullptr) in_flight_->set_state(place_, 1);
}
inline void InFlightMark::release() {
  if (in_flight_ != nullptr) std::exchange(in_flight_, nullptr)->free(place_);
}

}  // namespace orbweaver
