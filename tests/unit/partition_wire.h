// A wire between peers for the tests of transfers: it loses, doubles and delays packets as configured, from one seed;
// also how a receiver takes a batch.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "node/peer/peer.h"
#include "ring/messages.h"
#include "storage/store.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver::test {

struct Packet {
  Time at{};
  ring::PeerId from, to;
  ring::Body body;
};

class FakeWire {
 public:
  struct NetworkFaults {
    std::size_t lost = 0, doubled = 0;  // per hundred packets
    Duration max_delay{};
  };
  explicit FakeWire(std::uint64_t seed = 1) : random_(seed) {}

  void set(const NetworkFaults& faults) { faults_ = faults; }
  void send(Time now, const ring::PeerId& from, const ring::PeerId& to, const ring::Body& body) {
    if (below(random_, 100) < faults_.lost) return;
    const int copies = below(random_, 100) < faults_.doubled ? 2 : 1;
    for (int i = 0; i < copies; ++i) packets_.push_back({now + delay(), from, to, body});
  }
  // The packets that have arrived by now, in order of arrival.
  std::vector<Packet> take(Time now) {
    std::stable_sort(packets_.begin(), packets_.end(), [](const Packet& a, const Packet& b) { return a.at < b.at; });
    const auto end = std::find_if(packets_.begin(), packets_.end(), [&](const Packet& l) { return l.at > now; });
    std::vector<Packet> come(packets_.begin(), end);
    packets_.erase(packets_.begin(), end);
    return come;
  }
  std::optional<Time> next() const {
    if (packets_.empty()) return std::nullopt;
    return std::min_element(packets_.begin(), packets_.end(),
                            [](const Packet& a, const Packet& b) { return a.at < b.at; })
        ->at;
  }
  void clear() { packets_.clear(); }
  // A peer dies: packets in flight from or to it are lost.
  void cut(const ring::PeerId& peer) {
    std::erase_if(packets_, [&](const Packet& packet) { return packet.from == peer || packet.to == peer; });
  }

 private:
  Duration delay() {
    return faults_.max_delay.count() == 0
               ? Duration{}
               : Duration(static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(faults_.max_delay.count())));
  }

  std::mt19937_64 random_;
  NetworkFaults faults_;
  std::vector<Packet> packets_;
};

inline storage::UrlKey key_of(const std::string& url, std::uint32_t partitions = few_partitions) {
  return {host_key(ring::md5(std::string(CanonicalUrl::host_in(url))), partitions), ring::md5(url)};
}
inline storage::HostKey host_key_named(std::string_view host, std::uint32_t partitions = few_partitions) {
  return host_key(ring::md5(std::string(host)), partitions);
}

// The commit that a batch leads to, as BatchIntake::take makes it.
inline storage::Commit commit_of_batch(storage::Store& store, const ring::Batch& batch, Time now,
                                       std::uint32_t partitions = few_partitions) {
  storage::Commit commit;
  for (const ring::BatchRecord& entry : batch.records) {
    switch (storage::wire_kind(entry.record)) {
      case storage::WireKind::wait: {
        auto clock = *storage::decode_wait(entry.record, now);
        const storage::HostKey host = host_key_named(clock.host, partitions);
        if (const auto own = store.clock(host); own && *own) clock = storage::merge(**own, clock);
        commit.clocks.emplace_back(host, clock);
        break;
      }
      case storage::WireKind::robots: {
        auto robots = *storage::decode_robots(entry.record, now);
        const storage::HostKey host = host_key_named(CanonicalUrl::host_in(robots.first + "/"), partitions);
        const auto own = store.robots(host, robots.first);
        if (!own || !*own || storage::merge(**own, robots.second) != **own)
          commit.robots.emplace_back(host, robots.first, robots.second);
        break;
      }
      case storage::WireKind::record: {
        const auto record = storage::decode_record(entry.record);
        EXPECT_TRUE(record) << record.error().message;
        commit.merges.push_back({key_of(record->url, partitions), *record});
        EXPECT_EQ(commit.merges.back().key.host.partition, entry.partition) << "reported to be of another partition";
        break;
      }
      case storage::WireKind::cookies: {
        const auto cookies = *storage::decode_cookies(entry.record);
        commit.cookies.emplace_back(host_key_named(cookies.site, partitions), cookies);
        break;
      }
      case storage::WireKind::use: {
        const auto use = *storage::decode_use(entry.record);
        commit.uses.emplace_back(host_key_named(use.site, partitions), use);
        break;
      }
      case storage::WireKind::last_access_unknown:
        break;
      case storage::WireKind::unknown:
        ADD_FAILURE() << "a record that no version knows";
    }
  }
  return commit;
}

// Hosts of a partition, by number (crawl_keys.h, host_text).
inline std::vector<std::size_t> hosts_in(std::uint16_t partition, std::size_t count,
                                         std::uint32_t partitions = few_partitions) {
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; hosts.size() < count; ++host)
    if (host_key_of(host, partitions).partition == partition) hosts.push_back(host);
  return hosts;
}

}  // namespace orbweaver::test
