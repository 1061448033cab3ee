// A ring made from the stores of a snapshot, of any number of peers. Every partition is merged from all stores that
// have some of it, as copies are merged when partitions change hands, and goes to the peer that the hash ring names as
// its owner. The new ring may have another number of partitions: each row says of which URL, host or site it is, and so
// where it belongs. The new ring has an identity of its own, and so has each of its peers: peers of the old one that
// still run are strangers to it. What the new peers find on their disks is what a ring that was stopped finds: members,
// tenures, seeds, settings, records, waits, robots.txt files, links that are still to be admitted.
//
// Cost: a read of every record in each store, and a write of each that says more than those before it. Pure but for the
// stores. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/coordination/operator_orders.h"
#include "node/crawl/partitioner.h"
#include "node/settings/settings.h"
#include "ring/hash_ring.h"
#include "ring/messages.h"
#include "ring/types.h"
#include "storage/store.h"

namespace orbweaver {

class Restore {
 public:
  struct Target {
    storage::Kv* kv = nullptr;  // empty; outlives the restore
    ring::PeerId id;            // 128 random bits
    std::string address;        // at which the others will reach it
  };
  struct Counts {
    std::uint64_t records = 0;  // in all targets
    std::uint64_t fetched = 0;
    std::uint64_t queued = 0;
    std::uint64_t links = 0;  // to be admitted
  };

  // `settings`: of the snapshot. `partitions`: of the new ring; nothing: as many as before. Errors: a target that is
  // not empty; settings that this build does not know; a number that no ring has.
  static Result<Restore> begin(std::vector<Target> targets, const ring::RingId& ring, const ring::Settings& settings,
                               std::optional<std::uint32_t> partitions = {});

  // Merges what a peer's store has. Any order gives the same records.
  Result<void> add(storage::Store& source);
  // Writes what makes a ring of the targets. Nothing is added afterwards. It is on the disk.
  Result<Counts> finish();

 private:
  // What is written together, by the store that it goes into.
  using Commits = std::map<storage::Store*, storage::Commit>;

  Restore(PartitionBy by, std::uint32_t before, std::uint32_t partitions)
      : partitions_before_(before), partitioner_(by, partitions) {}
  storage::Store& owner_of(std::uint16_t partition);
  bool same_partitions() const { return partitions_before_ == ring_.partitions(); }
  // Nothing: it is no URL.
  std::optional<storage::HostKey> host_of(const std::string& url);
  // Where the row of a partition belongs now. By URL a host has rows in many partitions: all that come of one have it.
  std::vector<storage::HostKey> places_of(std::uint16_t partition, const storage::HostRow& row);
  Result<void> add_host(const storage::HostRow& row, const storage::HostKey& key, storage::Commit& commit);
  Result<void> find_crashes_again();
  Result<void> add_records(storage::Store& source, std::uint16_t partition);
  Result<void> add_hosts(storage::Store& source, std::uint16_t partition);
  Result<void> add_links(storage::Store& source, std::uint16_t partition);
  Result<void> add_facts(storage::Store& source);
  void add_walk(const std::string& row);
  std::string walks_row() const;
  void add_orders(const std::string& row);
  void begin_visits();
  void add_seeds(const std::string& row);
  storage::Commit facts_of(std::size_t target) const;

  std::vector<Target> targets_;
  std::vector<std::unique_ptr<storage::Store>> stores_;
  std::map<ring::PeerId, std::size_t> by_id_;
  ring::RingId ring_id_;
  ring::Settings settings_;
  std::uint32_t partitions_before_;
  Partitioner partitioner_;
  ring::HashRing ring_;
  // What peers know that belongs to no partition.
  std::vector<std::string> seeds_;
  std::set<std::string> known_seeds_;
  std::uint64_t bytes_ = 0;
  std::map<std::string, std::string> mirrors_;
  std::map<std::string, std::uint64_t> crashes_;
  std::map<std::string, std::string> redirects_;
  std::map<std::pair<std::int64_t, std::string>, nlohmann::json> walks_;  // visits, by their moments and texts
  OperatorOrders orders_;
  std::map<std::string, std::size_t> knew_visit_;  // by name: how many sources
  std::size_t sources_ = 0;
};

}  // namespace orbweaver
