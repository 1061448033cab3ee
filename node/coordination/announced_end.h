// The end of the crawl as this peer knows it, and its row: first agreed to, then decided. Until a decision comes, a
// peer that has agreed takes no new work from commands, because the others may end at any moment, takes no partition
// over, and admits no seed again. A restart forgets neither.
// Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <optional>
#include <string>

#include "node/base.h"
#include "node/replication/messenger.h"
#include "ring/messages.h"
#include "storage/store.h"

namespace orbweaver {

class AnnouncedEnd {
 public:
  // `messenger` outlives it: the row is a message.
  explicit AnnouncedEnd(const Messenger& messenger) : messenger_(&messenger) {}

  // Decided: every member has agreed.
  const std::optional<ring::Finish>& announced() const { return decided_ ? end_ : none_; }
  // Agreed to, and not decided as far as this peer knows.
  const std::optional<ring::Finish>& agreed() const { return decided_ ? none_ : end_; }
  // Agreed to or decided.
  const std::optional<ring::Finish>& known() const { return end_; }
  // It is this end, named by its finder and wave, whether decided or not.
  bool knows(const ring::PeerId& by, std::uint64_t wave) const { return end_ && end_->by == by && end_->wave == wave; }
  // No command may bring new work now.
  bool closed() const { return closed_; }

  // The row goes into `commit`. A decided end is kept.
  void agree(const ring::Finish& end, storage::Commit& commit);
  void remember(const ring::Finish& end, storage::Commit& commit);
  // There is work: new seeds, pages to visit again, or a member that has some.
  void reopen(storage::Commit& commit);
  // Whoever could decide is not here: commands may bring work again, which then takes the agreement back.
  void release() { closed_ = false; }
  // Restores it from a row. The crawl counts as ended even when the row cannot be read; the error then says so.
  Result<void> restore(const std::string& row);
  // Writes the row of an end that was restored.
  void write(storage::Commit& commit) const;

 private:
  const Messenger* messenger_;
  std::optional<ring::Finish> end_;
  bool decided_ = false;
  bool closed_ = false;
  const std::optional<ring::Finish> none_;
};

}  // namespace orbweaver
