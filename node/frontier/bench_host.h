// A host in memory: when it may next be asked, the head of its queue, and what is known of it. Thread rule: values of
// one owner (the workbench).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/crawl/host_pacing.h"
#include "node/crawl/robots_cache.h"
#include "storage/store.h"

namespace orbweaver {

// What is known of one origin's robots.txt.
struct RobotsSlot {
  std::string origin;
  RobotsCache::Handle rules;  // null: not known yet
  Time expires{};
  // Not none: the file could not be had, the rules disallow all, and pages are excluded with this reason.
  storage::Reason unreachable = storage::Reason::none;
  std::uint16_t status = 0;   // HTTP
  std::uint8_t attempts = 0;  // tries that failed so far
  std::string redirect;       // where the last answer pointed: asked for at the host's next turn
  std::uint8_t hops = 0;      // redirects followed so far
};

struct BenchHost {
  storage::HostKey key;
  std::string name;
  std::deque<storage::QueuedUrl> head;  // sorted by position; only the workbench changes it
  std::size_t head_bytes = 0;           // of it, in memory
  storage::Position loaded;             // everything on disk up to here is in head or issued
  bool more_on_disk = false;            // there may be entries after `loaded`
  bool busy = false;                    // acquired
  bool foreign = false;                 // its partition is not fetched here now
  bool parked = false;                  // in no queue until unpark()
  bool wait_is_cut = false;             // a retry waits less long than the store says: the clock was set back
  bool resumes = false;                 // acquired, and its turn continues at queued_at
  std::string elsewhere;                // acquired, and its request goes to this other host: a robots.txt is there
  Time yields_until{};                  // another peer comes for its turn before this: its own requests wait
  Time lent_until{};                    // the last turn that was lent came back then
  Duration ahead{};                     // it is taken this long before next_allowed, to ask for its address's slot
  Time next_allowed{};
  Time queued_at{};        // its key in the ready queue, with turn; meaningful while in it
  std::uint64_t turn = 0;  // of hosts with the same time, the one put in first is earlier
  bool in_ready = false;
  bool is_due = false;             // its turn has come: only under best_first
  std::uint32_t due_priority = 0;  // its key among hosts whose turn has come, with turn
  std::uint32_t failures = 0;      // tries in a row without an answer
  Time down_until{};               // with max_host_failures of them: not tried before this
  HostPacing pacing;
  std::string domain;        // registered; empty: not looked for yet
  std::string address_host;  // the name that `address` belongs to: a canonical redirect uses another
  std::string address;       // as last resolved; empty: not known, or it has none
  Time address_until{};      // from then on it is looked up again
  Time address_slot_until{};
  Time address_slot{};        // given by the address's owner; the epoch: none
  std::uint32_t pending = 0;  // issued and not yet committed
  std::uint32_t served = 0;
  std::uint64_t pages = 0;  // answered, and their bytes: counted under a budget only
  std::uint64_t bytes = 0;
  Duration crawl_delay{};                                         // from robots.txt
  std::vector<std::pair<std::uint64_t, std::uint32_t>> contents;  // bodies seen recently, and how often
  std::vector<RobotsSlot> robots;                                 // by origin: few
};

}  // namespace orbweaver
