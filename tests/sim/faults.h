// The faults of a run, which concern peers, disks and links: one row each, drawn from the seed or set by a named
// scenario. A fault has a text form that can be read again. Thread rule: values.
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
    crash_at,    // the same for whichever peer, of those of `side` if there are any, sends the `sends`th message of
                 // type `what` from now on
    stop,        // cleanly; started again after `down`
    copy,        // its data directory is copied while it is up, and a process started over the copy: that one must end
    leave,       // hands everything over and leaves; with `down` it is started again this long after its exit
    join,        // a further peer starts, and joins through peer `through`
    cut,         // for `down`, no message passes between the peers of `side` and the others
    one_way,     // for `down`, no message of the peers of `side` reaches the others; the opposite direction works
    slow,        // for `down`, messages between `side` and the others take `by` longer
    pause,       // SIGSTOP, and SIGCONT after `down`
    disk_error,  // after `writes` more writes one fails (io): the peer exits, and is started again after `down`
    disk_full,   // the same with no space left
    read_error,  // after `writes` more reads one fails (io): likewise
    no_archive,  // after `writes` more answers its archive cannot be written (io): likewise
    disk_gone,   // the peer dies and its disk is lost; with `down` it is started again this long after, as a new peer
    strike,      // killed by its `writes`th next write, started again after `by`; when it has sent `sends` messages of
                 // type `what` (empty: any about records), its disk is lost, with `down` as in disk_gone
    power_cut,   // as crash, and the last `writes` writes are lost (storage/memory_kv.h says which can be); with `what`
                 // when the peer sends its `sends`th message of that type from now on. Under durability = power: soon
                 // after the `writes`th next record of its archive, before its sync is over or after it, and the
                 // unsynced records are lost
    ask,         // a command's question, to a peer that has work: `what` (world_questions.cc has the list)
    recrawl,     // the same, for pages settled at least `by` ago: of host `host`, of URLs with "p1", or all (`what`)
    order,       // a command's order, to a peer that has work: `what` (pause, pause_host, block, delay) of host `host`.
                 // After `down` it is taken back, until every peer knows that
    late_seed,   // `by` after the `sends`th message of type `what` at a time when no peer has work, a command gives
                 // the peer, or the next one that is up, a seed: page `page` of host `host` that nothing leads to
  };
  Kind kind = Kind::crash;
  std::size_t peer = 0;
  Duration at{};    // since the start of the run
  Duration down{};  // how long it lasts
  std::set<std::size_t> side{};
  Duration by{};
  Duration clock{};  // of faults that end a process: its machine's clock is set forward (back) by this before it starts
  std::uint64_t writes = 0;
  std::uint64_t sends = 0;
  std::size_t through = 0;
  std::string what{};
  std::uint32_t host = 0;  // ask, recrawl, order, late_seed: of the web
  std::uint32_t page = 0;  // ask, late_seed: of that host
  bool held = false;       // cut, one_way: messages sent meanwhile arrive after it; else they are lost
  bool tick_last = false;  // pause: the waiting events come before the clock's tick; else after it

  bool operator==(const Fault&) const = default;
  std::string text() const;  // "crash peer=1 at=5s for=700ms"
  static Result<Fault> read(std::string_view text);

  // The fault concerns peer `peer` alone.
  bool of_one_peer() const;
  bool is_question() const {
    return kind == Kind::ask || kind == Kind::recrawl || kind == Kind::late_seed || kind == Kind::order;
  }
  // The peers concerned may see the ring differently for a while.
  bool disturbs_views() const;
};

std::string_view fault_name(Fault::Kind kind);

}  // namespace orbweaver::sim
