// robots.txt of the hosts that this peer asks: what is known of one, and what the answer to a request for one means
// (node/robots/robots_fetch.h). Rules are in memory (robots_cache.h) and in the store; a worker parses a long file, and
// its host stays acquired meanwhile. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "node/crawl/site_jars.h"
#include "node/links/link_follower.h"
#include "node/replication/record_writer.h"
#include "node/robots/robots_fetch.h"
#include "node/scheduling/job_table.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class RobotsDesk {
 public:
  // What it reads and changes of the peer; all outlive it.
  struct Around {
    const PeerState& state;
    Workbench& bench;
    Replication& replication;
    RecordWriter& writer;
    JobTable& jobs;
    LinkFollower& links;
    SiteJars& cookies;
  };
  // Since the start of the process.
  struct Counters {
    std::uint64_t fetched = 0;
    std::uint64_t parsed_again = 0;  // read back from the store: after a restart, or dropped before
    std::uint64_t rules_left_out = 0;
  };
  explicit RobotsDesk(Around around);

  // The host's place for what is known of an origin.
  static RobotsSlot& slot(BenchHost& host, const std::string& origin);
  // The rules of an origin, from memory or from the store. Null: none are known, and the file must be asked for; or,
  // with `unread`, the store has this body, which a worker must parse first.
  std::shared_ptr<const RobotsRules> rules(Time now, BenchHost& host, RobotsSlot& slot, std::string& unread);
  // A request for the origin's file.
  static RobotsFetch fetch_of(const BenchHost& host, const RobotsSlot& slot);

  // The name of the host that a request for the host's file goes to, if it is another one; else empty.
  std::string elsewhere(const BenchHost& host, const CanonicalUrl& url) const;

  // A worker parses what the store has; the host stays acquired. False: the origin is not a URL.
  bool start_parsing(const Step& step, const BenchHost& host, const RobotsSlot& slot, std::string body);
  bool parsing_may_start() const;
  // An acquired host waits until a worker may parse for it.
  void wait_to_parse(const BenchHost& host) { to_parse_.push_back(host.key); }
  void parsing_given_up() { --parsing_; }
  void finish_parsing(Time now, const Job& job, const RobotsRead& read);
  // The next of these hosts, if a worker may parse; null: none waits, or none may.
  BenchHost* next_to_parse();
  std::size_t waiting_to_parse() const { return to_parse_.size(); }
  bool any_may_go_on() const { return !to_parse_.empty() && parsing_may_start(); }
  // Releases the waiting hosts: a partition is not handed over while a host of it is acquired.
  void release_waiting();

  // The answer to a request has come. `read`: null without a response.
  Result<void> finish(const Step& step, const Job& job, RobotsRead* read);

  const RobotsCache& cache() const { return cache_; }
  const Counters& counters() const { return counters_; }
  ring::TableSizes tables() const;

 private:
  // For the same host in other partitions, under partition_by = url: so each peer asks for a file once.
  struct Shared {
    RobotsSlot slot;
    storage::HostKey stored;  // the host of the row in the store
  };
  void note(Time now, BenchHost& host, RobotsSlot& slot, RobotsCache::Handle rules);
  void share(Time now, const BenchHost& host, const RobotsSlot& slot);
  Result<void> keep_clock(const Step& step, const Job& job, const BenchHost& host);
  Result<void> store_answer(const Step& step, const Job& job, RobotsStep meaning, RobotsRead* read, BenchHost& host,
                            RobotsSlot& slot);
  void tell_left_out(const Step& step, const RobotsSlot& slot);

  Around around_;
  RobotsCache cache_;
  std::map<std::string, Shared> shared_;   // by origin
  std::size_t parsing_ = 0;                // stored files that workers parse now
  std::deque<storage::HostKey> to_parse_;  // acquired hosts whose stored files are next
  Counters counters_;
};

}  // namespace orbweaver
