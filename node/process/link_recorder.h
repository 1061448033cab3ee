// A peer's link trace under record_links, as the loop writes it. Thread rule: the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "node/base.h"
#include "node/peer/core.h"
#include "storage/link_trace.h"

namespace orbweaver {

class LinkRecorder {
 public:
  // Writes facts into every file: which peer it belongs to, and the settings by which links belong to other peers.
  // `waiter`: see storage/open_waiter.h; it outlives this.
  Result<void> open(const Core& peer, const std::string& directory, storage::OpenWaiter* waiter);
  // A trace that cannot be written ends the peer, as an unwritable archive does: the user asked for it.
  Result<void> record(const storage::TracePage& page);
  void tell(Core& peer) const;  // reports the trace's counts
  void close();

 private:
  std::optional<storage::LinkTraceWriter> writer_;
  std::uint64_t removed_ = 0;  // files removed, as of the last record()
};

}  // namespace orbweaver
