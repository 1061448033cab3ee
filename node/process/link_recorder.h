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
  // With facts that lie in every file: whose it is, and what says which links are for other peers.
  // `waiter`: see storage/open_waiter.h; it outlives this.
  Result<void> open(const Core& peer, const std::string& directory, storage::OpenWaiter* waiter);
  // A trace that cannot be written ends the peer, as an archive does: what was asked for would not be there.
  Result<void> record(const storage::TracePage& page);
  void tell(Core& peer) const;  // its counts
  void close();

 private:
  std::optional<storage::LinkTraceWriter> writer_;
  std::uint64_t removed_ = 0;  // files, that the log told of
};

}  // namespace orbweaver
