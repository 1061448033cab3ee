// The question "urls": the records of some states, reasons or hosts, from those that this peer holds, in parts. Reports
// of commands are made of its answers. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/peer/record_scan.h"

namespace orbweaver {

// A record as people and programs are shown it: url, host, state, reason, why, fix, status, attempts, depth, visit,
// when, not_before. What is not known is left out.
nlohmann::json url_entry(const storage::UrlRecord& record);

class UrlReport {
 public:
  // All outlive it.
  UrlReport(storage::Store& store, Partitioner& partitioner, const PartitionManager& partition_manager)
      : scan_(store, partitioner, partition_manager) {}

  // The fields of a RecordFilter, and "after": {`self`: a URL} to go on where an answer ended ("last"). `room`: bytes
  // of the answer, about. Answers "urls" (url_entry each), "looked_at" (records) and "last", or "error".
  nlohmann::json answer(const std::string& self, const nlohmann::json& question, std::size_t room) const;

 private:
  RecordScan scan_;
};

}  // namespace orbweaver
