// The question "traps": what the rules have excluded, by host and rule, from the records that this peer holds; on the
// user's order it is queued anyway. Bounded: a question looks at a number of records, and its answer says where to
// continue. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/links/trap_judge.h"
#include "node/peer/record_scan.h"
#include "node/replication/record_writer.h"

namespace orbweaver {

class TrapReport {
 public:
  // All outlive it.
  TrapReport(storage::Store& store, Partitioner& partitioner, TrapJudge& judge, MirrorTable& mirrors,
             const PartitionManager& partition_manager, RecordWriter& writer)
      : scan_(store, partitioner, partition_manager), judge_(&judge), mirrors_(&mirrors), writer_(&writer) {}

  // {"readmit": true} queues what it finds; "host" and "rule" narrow both. "after": {`self`: a URL} continues where an
  // incomplete answer ended ("last"). Answers "traps", "last" and "readmitted", or "error" for a question that cannot
  // be read. Error: the store cannot be written.
  Result<nlohmann::json> answer(const Step& step, const std::string& self, const nlohmann::json& body);

 private:
  RecordScan scan_;
  TrapJudge* judge_;
  MirrorTable* mirrors_;
  RecordWriter* writer_;
};

}  // namespace orbweaver
