// Batches of records from other peers. Their bytes are outside input: each record enters where a parsed link does, at
// "canonicalise". A batch is taken whole or refused whole, in one write. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "node/coordination/directives.h"
#include "node/links/link_router.h"
#include "node/links/recrawl_walk.h"
#include "node/links/trap_judge.h"
#include "node/replication/partition_moves.h"

namespace orbweaver {

class BatchIntake {
 public:
  // What it reads and changes of the peer; all outlive it.
  struct Around {
    const PeerState& state;
    const Members& members;
    const Messenger& messenger;
    Replication& replication;
    Workbench& bench;
    RecordWriter& writer;
    PartitionMoves& moves;
    Directives& directives;
    const LinkRouter& router;
    const RecrawlWalk& walk;
    TrapJudge& traps;
  };
  // Since the start of the process.
  struct Counters {
    std::uint64_t batches = 0;  // of links
    std::uint64_t records = 0;  // of all batches
    std::uint64_t malformed = 0;
  };
  explicit BatchIntake(Around around) : around_(around) {}

  // Answers that the batch is taken or that it is refused, or does not answer: then the sender sends it again.
  Result<void> take(const Step& step, const ring::PeerId& from, const ring::Batch& batch, const ring::ReplyPath& reply);
  // Takes the entries of its outbox that this peer itself owns after a change of owners.
  Result<void> take_own_outbox(const Step& step);
  const Counters& counters() const { return counters_; }

 private:
  // What a batch contains, as it goes into the store.
  struct Content {
    std::vector<storage::Merge> records;
    std::vector<CanonicalUrl> urls;  // of `records`, one each
    std::map<storage::HostKey, storage::HostClock> clocks;
    std::map<std::pair<storage::HostKey, std::string>, storage::RobotsEntry> robots;  // by origin
    std::map<storage::HostKey, storage::SiteCookies> cookies;
    std::map<storage::HostKey, storage::SiteUse> uses;
    std::vector<std::string> seeds;
    std::vector<std::string> faults;  // of records that cannot be read
  };

  bool accepts(ring::Partition partition, ring::BatchKind kind) const;
  bool read(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const;
  bool read_wait(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const;
  bool read_robots(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const;
  bool read_cookies(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const;
  bool read_use(const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const;
  bool read_unsure(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const;
  bool read_record(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const;
  void judge(Content& content);

  Around around_;
  Counters counters_;
};

}  // namespace orbweaver
