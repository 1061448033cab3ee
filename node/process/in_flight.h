// Which pages are at work: in a worker's hands, or in the core's while it commits them. Kept in a small file that is
// mapped into memory, so that a page costs two stores of a few bytes and no call of the system, and what the file says
// outlives the process, however it dies. After an unclean end the pages that were at work are suspects: one of them may
// be what kills the crawler (Peer counts them, and gives up those that were at work at two ends in a row).
//
// File: 16 bytes "orbweaver-work 1", then places of 32 bytes: u8 state (0 free, 1 waits, 2 at work), u16 partition
// (little-endian), 8 bytes of the host's digest, 16 of the URL's. A clean end removes it. It is not synced: a power cut
// is nobody's fault. Thread rule: open() and close() by the loop; marks by any thread, one at a time each.
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
#include "storage/store.h"

namespace orbweaver {

class InFlight;

// A page's place, free again when this is destroyed.
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
  void waits();  // in a queue: if the process dies, it was not for this page

 private:
  friend class InFlight;
  InFlightMark(InFlight* in_flight, std::uint32_t place) : in_flight_(in_flight), place_(place) {}
  void release();

  InFlight* in_flight_ = nullptr;
  std::uint32_t place_ = 0;
};

class InFlight {
 public:
  // `pages`: how many may be marked together; what is beyond goes unmarked. Errors: io, disk_full.
  static Result<std::unique_ptr<InFlight>> open(const std::string& path, std::size_t pages);
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  // Of the last process, when it did not end cleanly.
  const std::vector<storage::UrlKey>& left() const { return left_; }
  // All places are free, those too that only an earlier run had: what was left is durable elsewhere.
  void clear();
  // The page is at work from here on.
  InFlightMark begin(const storage::UrlKey& page);
  // The end is clean.
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
  std::vector<std::atomic<std::thread::id>> at_work_by_;  // by place: who has it, while its state says so
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;  // guarded by mutex_
};

// While it lives, nothing that this thread has at work counts as that: it waits for something else, such as memory or a
// descriptor, for as long as that may take.
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
