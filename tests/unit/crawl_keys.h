// Keys, records and views for the tests of the store and of the crawl's rules.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "node/replication/view.h"
#include "ring/md5.h"
#include "storage/store.h"

namespace orbweaver::test {

inline constexpr std::uint32_t few_partitions = 16;

using storage::Time;

inline Time at_ms(std::int64_t milliseconds) { return Time(std::chrono::milliseconds(milliseconds)); }

inline std::string host_text(std::size_t host) { return "h" + std::to_string(host) + ".test"; }
inline std::string url_text(std::size_t host, std::size_t page) {
  return "http://" + host_text(host) + "/" + std::to_string(page);
}
// The key for partition_by = host, computed by hand, to compare with Partitioner's.
inline storage::HostKey host_key(const ring::Md5& host_digest, std::uint32_t partitions) {
  storage::HostKey key;
  key.partition = ring::partition_of(host_digest, partitions);
  std::copy_n(host_digest.begin(), key.host.size(), key.host.begin());
  return key;
}
inline storage::HostKey host_key_of(std::size_t host, std::uint32_t partitions = few_partitions) {
  return host_key(ring::md5(host_text(host)), partitions);
}
inline storage::UrlKey url_key_of(std::size_t host, std::size_t page, std::uint32_t partitions = few_partitions) {
  return {host_key_of(host, partitions), ring::md5(url_text(host, page))};
}

inline storage::UrlRecord queued_record(std::size_t host, std::size_t page, std::uint16_t depth = 0) {
  storage::UrlRecord record;
  record.depth = depth;
  record.url = url_text(host, page);
  return record;
}
inline storage::Merge queued_merge(std::size_t host, std::size_t page, std::uint16_t depth = 0) {
  return {url_key_of(host, page), queued_record(host, page, depth)};
}

// A Commit of which only some parts are named: commit_of({.merges = {...}}).
struct CommitParts {
  std::vector<storage::Merge> merges{};
  std::vector<std::pair<std::uint16_t, std::string>> to_outbox{};
  std::vector<storage::OutboxKey> from_outbox{};
  std::vector<std::pair<storage::HostKey, storage::HostClock>> clocks{};
  std::vector<std::tuple<storage::HostKey, std::string, storage::RobotsEntry>> robots{};
  std::vector<std::pair<storage::HostKey, std::optional<storage::SiteCookies>>> cookies{};
  std::vector<std::pair<storage::HostKey, storage::SiteUse>> uses{};
  std::vector<std::pair<std::string, std::string>> meta{};
};
inline storage::Commit commit_of(const CommitParts& parts) {
  return {parts.merges, parts.to_outbox, parts.from_outbox, parts.clocks,
          parts.robots, parts.cookies,   parts.uses,        parts.meta};
}

// All records of a partition, read page by page.
inline std::map<storage::UrlKey, storage::UrlRecord> records_of(storage::Store& store, std::uint16_t partition) {
  std::map<storage::UrlKey, storage::UrlRecord> found;
  for (std::optional<storage::UrlKey> after;;) {
    const auto part = store.scan(partition, after ? &*after : nullptr, 100);
    EXPECT_TRUE(part);
    if (!part || part->empty()) return found;
    for (const storage::Merge& merge : *part) found[merge.key] = merge.record;
    after = part->back().key;
  }
}
inline std::map<storage::UrlKey, storage::UrlRecord> records_of(storage::Store& store) {
  std::map<storage::UrlKey, storage::UrlRecord> all;
  for (const std::uint16_t partition : store.partitions()) all.merge(records_of(store, partition));
  return all;
}

inline ring::PeerId peer_id(std::size_t number) {
  ring::PeerId id;
  id.bytes = ring::md5("peer " + std::to_string(number));
  return id;
}
inline ring::Member active_member(std::size_t number) {
  ring::Member member;
  member.id = peer_id(number);
  member.address = "10.0.0." + std::to_string(number) + ":7400";
  member.incarnation = 1;
  member.state = ring::MemberState::active;
  return member;
}
// The view of peer `self` on a ring of `peers`, all active; an empty one when `peers` is empty.
inline View view_of(std::size_t self, const std::vector<std::size_t>& peers, std::uint32_t partitions = few_partitions,
                    std::uint32_t replicas = 1) {
  ring::Member own = active_member(self);
  own.state = ring::MemberState::leaving;
  std::vector<ring::Member> others;
  for (const std::size_t peer : peers) {
    if (peer == self) {
      own.state = ring::MemberState::active;
    } else {
      others.push_back(active_member(peer));
    }
  }
  ring::Membership membership(own, {}, 1);
  membership.merge(others, Time{});
  View view(own.id, partitions, replicas);
  view.update(membership);
  return view;
}

// A number from 0 to bound-1.
inline std::size_t below(std::mt19937_64& random, std::size_t bound) {
  return static_cast<std::size_t>(random() % bound);
}

}  // namespace orbweaver::test
