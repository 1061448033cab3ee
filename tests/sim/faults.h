// What is done to peers, disks and links in a run: one row each, drawn from the seed or set by a named scenario, with a
// text form that reads back. Thread rule: values.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver::sim {

struct Fault {
  enum class Kind : std::uint8_t {
    crash,       // kill -9; started again over the same store after `down`
    crash_all,   // the same for every peer that is up
    stop,        // cleanly; started again after `down`
    leave,       // hands everything over and goes; with `down` started again so long after it has gone
    join,        // a further peer starts, and joins through peer `through`
    cut,         // for `down`, no message passes between the peers of `side` and the others
    one_way,     // for `down`, no message of the peers of `side` reaches the others; those of the others do
    slow,        // for `down`, messages between `side` and the others take `by` longer
    pause,       // SIGSTOP, and SIGCONT after `down`
    disk_error,  // after `writes` more writes one fails (io): the peer ends, and is started again after `down`
    disk_full,   // the same with no space left
    disk_gone,   // the peer dies and its disk with it; with `down` started again so long after, as a new peer
    power_cut,   // as crash, and the last `writes` writes are lost (storage/memory_kv.h says which can be)
    ask,         // a command's question, to a peer that has work: `what` (world_questions.cc has the list)
    recrawl,     // the same, for pages that ended `by` ago; of host `host`, of URLs with "p1", or of all (`what`)
  };
  Kind kind = Kind::crash;
  std::size_t peer = 0;
  Duration at{};    // since the start of the run
  Duration down{};  // how long it lasts
  std::set<std::size_t> side{};
  Duration by{};
  std::uint64_t writes = 0;
  std::size_t through = 0;
  std::string what{};
  std::uint32_t host = 0;  // ask, recrawl: of the web
  std::uint32_t page = 0;  // ask: of that host
  bool held = false;       // cut, one_way: what is sent meanwhile arrives after it; else it is lost
  bool tick_last = false;  // pause: the waiting events come before the clock's tick; else after it

  bool operator==(const Fault&) const = default;
  std::string text() const;  // "crash peer=1 at=5s for=700ms"
  static Result<Fault> read(std::string_view text);

  // Concerns peer `peer` alone.
  bool of_one_peer() const;
  bool is_question() const { return kind == Kind::ask || kind == Kind::recrawl; }
  // Its peers may come to see the ring differently for a while.
  bool disturbs_views() const;
};

std::string_view fault_name(Fault::Kind kind);

}  // namespace orbweaver::sim
