// Up to when everything has its copies (docs/decisions/0026-after-a-restart.md): a moment on this peer's clock. Each
// page that it fetched up to then has its links on two disks. A page fetched later has them there too, once its outcome
// has left (replicator.h); which those are, this process knows of its own pages, but not of an earlier one's.
//
// Not settled: there may be pages of an earlier process, or of a time without any other peer, whose links are on this
// disk alone. Other peers are sent these as queued, and no partition is handed over. Nor is it settled while outcomes
// that were given up for lack of room (replicator.h) are to be filled.
//
// What others fetch after a restart is not among those. So the row also says, ahead of time, up to when this process
// may have fetched pages: the next one cannot tell that by its clock, which may have been set back.
//
// Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node/base.h"
#include "storage/record.h"

namespace orbweaver {

class CopiedUntil {
 public:
  // What the last run wrote; "": it wrote nothing. Pages fetched up to now may lack copies of their links.
  Result<void> restore(std::string_view row, Time now);
  // No other peer keeps copies any more, and those that did may be gone for good; or a page was fetched then.
  // Its links are in the outbox before this number.
  void note_alone(Time now, std::uint64_t outbox = 0);
  // The outcome of a page was given up before it had left. Its links are on two disks once the outbox and the copies
  // are safe up to these numbers (OutboxSender::safe(), Replicator::safe()). A fill brings it when all is settled.
  void note_unsent(Time fetched, std::uint64_t outbox, std::uint64_t items);
  // Such pages are to be filled still.
  bool any_unsent() const { return any_unsent_; }

  bool settled() const { return until_ >= needed_; }
  // Such a page goes to others as queued. What others fetched came here when its links were on two disks: it lacks
  // nothing, but where those that had them may be gone for good.
  bool lacks(const storage::UrlRecord& page) const {
    return !settled() && page.since > until_ && page.since <= last_ && (page.fetched_here || until_ == Time{});
  }

  // Whether move() is due.
  bool due(Time now) const { return now >= next_; }
  std::optional<Time> next_deadline() const { return settled() ? std::nullopt : std::optional(next_); }
  // Not now: something has no copy yet.
  void wait(Time now) { next_ = now + every; }
  // Everything that was fetched before `open` has its copies, but for what was given up; the outbox and the copies are
  // safe up to these numbers.
  void move(Time now, Time open, std::uint64_t outbox_safe, std::uint64_t items_safe);
  // When a page of this process counts as fetched: as its transfer ended, but after everything that has its copies. The
  // news of the end may have waited for this thread while move() went on.
  Time moment_of(Time ended) const { return std::max(ended, until_ + Duration{1}); }
  // A page of this process is about to count. The row to write with it; nothing: the row on disk allows for it.
  std::optional<std::string> note_fetched(Time fetched);
  // The row to write after the others; nothing: it is written already. row(): to write anyhow.
  std::optional<std::string> take_row();
  std::string row();

 private:
  static constexpr Duration every{std::chrono::seconds{1}};
  static constexpr Duration ahead{std::chrono::seconds{1}};  // of the pages that the row on disk allows for

  Time until_{};
  Time last_{};     // no page that lacks copies was fetched later, but for those of this process that still wait
  Time fetched_{};  // the last page of this process
  Time written_until_{};
  Time written_last_{};
  Time needed_{};
  Time next_{};
  bool any_unsent_ = false;
  Time first_unsent_ = Time::max();  // of those whose links may not be safe: when the first was fetched
  std::uint64_t unsent_outbox_ = 0;  // and what must be safe
  std::uint64_t unsent_items_ = 0;
};

}  // namespace orbweaver
