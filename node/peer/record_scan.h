// A walk over the records that this peer holds, in parts: for questions whose whole answer is too long for one step or
// one message. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "node/replication/partition_manager.h"

namespace orbweaver {

class RecordScan {
 public:
  // All outlive it.
  RecordScan(storage::Store& store, Partitioner& partitioner, const PartitionManager& partition_manager)
      : store_(&store), partitioner_(&partitioner), partition_manager_(&partition_manager) {}

  // Where a part begins.
  struct Begin {
    std::optional<storage::UrlKey> after{};  // nothing: at the first record
    bool nothing = false;                    // the question goes on at other peers only
  };
  // A question's "after": {identity of a peer: the URL after which its part begins}, or none. Errors name the field.
  Result<Begin> begin(const nlohmann::json& question, const std::string& self) const;

  // A record of a part.
  using Take = std::function<Result<bool>(const storage::Merge& at)>;
  // Calls `take` for the records of partitions of which `wanted` is true, until `max_records` were looked at or `take`
  // says false. Returns the URL after which the next part begins; empty: no record is left. Errors: of `take`; the
  // store cannot be read.
  Result<std::string> walk(const Begin& begin, std::size_t max_records,
                           const std::function<bool(const storage::Counts&)>& wanted, const Take& take) const;

 private:
  storage::Store* store_;
  Partitioner* partitioner_;
  const PartitionManager* partition_manager_;
};

}  // namespace orbweaver
