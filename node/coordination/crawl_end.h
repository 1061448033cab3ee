// The end of the crawl as this peer was told it, and the row that it is kept in: started again, a peer does not wait
// for others that have ended. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <optional>
#include <string>

#include "node/base.h"
#include "node/replication/messenger.h"
#include "ring/messages.h"
#include "storage/store.h"

namespace orbweaver {

class CrawlEnd {
 public:
  // `messenger` outlives it: the row is a message.
  explicit CrawlEnd(const Messenger& messenger) : messenger_(&messenger) {}

  const std::optional<ring::Finish>& announced() const { return announced_; }
  // The row goes into `commit`. Nothing happens when an end is known already.
  void remember(const ring::Finish& end, storage::Commit& commit);
  // There is work again: new seeds, or pages to visit again.
  void reopen(storage::Commit& commit);
  // Of a row. That the crawl had ended counts, even when it cannot be read why; the error then says so.
  Result<void> restore(const std::string& row);
  // The row of an end that was restored.
  void write(storage::Commit& commit) const;

 private:
  const Messenger* messenger_;
  std::optional<ring::Finish> announced_;
};

}  // namespace orbweaver
