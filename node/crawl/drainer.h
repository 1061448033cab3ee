// Records of partitions that have another owner now, on their way there: after a join, a leave, or a return. One batch
// at a time, the same message as any batch; what is acknowledged is forgotten here. Pure but for reads of the store.
// Thread rule: one owner (the peer's loop).
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "node/crawl/forwarder.h"

namespace orbweaver {

class Drainer {
 public:
  Drainer(storage::Store& store, std::size_t batch_records, Duration batch_timeout)
      : store_(&store), batch_records_(batch_records), batch_timeout_(batch_timeout) {}

  // After a change of owners, and at start: which partitions with records here belong to others.
  Result<void> owners_changed(const View& view);
  // The next batch (batch_records URLs at most, fewer when the message would be too large), or the last one again.
  // `busy(partition)`: fetches are under way in it, it waits.
  Result<std::optional<Forwarder::Out>> tick(Time now, const View& view,
                                             const std::function<bool(ring::Partition)>& busy,
                                             const std::function<std::uint64_t()>& new_sequence);
  // The records that the owner has now, to be forgotten; empty when the batch is not the one under way.
  std::vector<storage::UrlKey> acknowledged(const ring::PeerId& from, std::uint64_t sequence);
  // True when it was the one under way.
  bool refused(const ring::PeerId& from, std::uint64_t sequence, Time now);

  bool idle() const { return partitions_.empty() && !under_way_; }
  std::size_t partitions_left() const { return partitions_.size(); }
  std::optional<Time> next_deadline() const;

 private:
  struct UnderWay {
    Forwarder::Out out;
    std::vector<storage::UrlKey> keys;
    Time sent{};
  };
  storage::Store* store_;
  std::size_t batch_records_;
  Duration batch_timeout_;
  std::deque<ring::Partition> partitions_;
  std::optional<UnderWay> under_way_;
  Time not_before_{};
};

}  // namespace orbweaver
