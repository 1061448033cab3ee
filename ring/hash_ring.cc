#include "ring/hash_ring.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace orbweaver::ring {

namespace {

constexpr std::uint32_t points_per_capacity = 2;

void append_big_endian(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((value >> shift) & 0xff));
}

std::uint64_t place(std::string_view prefix, std::uint32_t number) {
  std::string bytes(prefix);
  append_big_endian(bytes, number);
  return leading_bits(md5(bytes));
}

std::string_view view_of(const PeerId& id) { return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}; }

[[noreturn]] void broken_promise(const char* what) {
  std::fprintf(stderr, "orbweaver: %s\n", what);
  std::abort();
}

struct Owner {
  PeerId id;
  std::uint32_t capacity;
  auto operator<=>(const Owner&) const = default;
};

// Sorted by id, each id once: the same list for every order of the input.
std::vector<Owner> owners_among(const std::vector<Member>& members) {
  std::vector<Owner> owners;
  for (const Member& member : members) {
    if (!owns_partitions(member) || member.capacity == 0) continue;
    owners.push_back({member.id, std::min(member.capacity, capacity_max)});
  }
  std::sort(owners.begin(), owners.end());
  const auto same_id = [](const Owner& a, const Owner& b) { return a.id == b.id; };
  owners.erase(std::unique(owners.begin(), owners.end(), same_id), owners.end());
  return owners;
}

}  // namespace

Partition partition_of(const Md5& host_digest, std::uint32_t partitions) {
  if (!std::has_single_bit(partitions) || partitions > partitions_max) {
    broken_promise("the number of partitions must be a power of two, at most 65536");
  }
  if (partitions == 1) return 0;  // a shift by 64 is undefined
  return static_cast<Partition>(leading_bits(host_digest) >> (64 - std::countr_zero(partitions)));
}

HashRing::HashRing(const std::vector<Member>& members, std::uint32_t partitions) : partitions_(partitions) {
  if (!std::has_single_bit(partitions) || partitions > partitions_max) {
    broken_promise("the number of partitions must be a power of two, at most 65536");
  }
  std::string described;  // what the fingerprint is over
  append_big_endian(described, partitions);
  for (const Owner& owner : owners_among(members)) {
    const auto index = static_cast<std::uint32_t>(peers_.size());
    peers_.push_back(owner.id);
    for (std::uint32_t i = 0; i < owner.capacity * points_per_capacity; ++i) {
      points_.push_back({place(view_of(owner.id), i), index});
    }
    described.append(view_of(owner.id));
    append_big_endian(described, owner.capacity);
  }
  fingerprint_ = leading_bits(md5(described));
  // peers_ is sorted, so a lower index is a lower id: the rule for equal points.
  std::sort(points_.begin(), points_.end(),
            [](const Point& a, const Point& b) { return a.at != b.at ? a.at < b.at : a.peer < b.peer; });
  if (empty()) return;
  owner_of_.reserve(partitions);
  for (std::uint32_t partition = 0; partition < partitions; ++partition) {
    owner_of_.push_back(points_[first_point(partition)].peer);
  }
}

std::size_t HashRing::first_point(std::uint32_t partition) const {
  const std::uint64_t at = place("partition", partition);
  const auto found = std::lower_bound(points_.begin(), points_.end(), at,
                                      [](const Point& point, std::uint64_t value) { return point.at < value; });
  return found == points_.end() ? 0 : static_cast<std::size_t>(found - points_.begin());
}

const PeerId& HashRing::owner(Partition partition) const {
  if (partition >= owner_of_.size())
    broken_promise("the owner of a partition that the ring does not have was asked for");
  return peers_[owner_of_[partition]];
}

std::vector<PeerId> HashRing::owners(Partition partition, std::size_t count) const {
  std::vector<PeerId> found;
  if (partition >= owner_of_.size()) return found;
  const std::size_t wanted = std::min(count, peers_.size());
  std::size_t point = wanted == 0 ? 0 : first_point(partition);
  for (std::size_t walked = 0; walked < points_.size() && found.size() < wanted; ++walked) {
    const PeerId& peer = peers_[points_[point].peer];
    if (std::find(found.begin(), found.end(), peer) == found.end()) found.push_back(peer);
    point = point + 1 == points_.size() ? 0 : point + 1;
  }
  return found;
}

std::vector<Partition> HashRing::partitions_of(const PeerId& peer) const {
  std::vector<Partition> found;
  const auto at = std::lower_bound(peers_.begin(), peers_.end(), peer);
  if (at == peers_.end() || *at != peer) return found;
  const auto index = static_cast<std::uint32_t>(at - peers_.begin());
  for (std::size_t partition = 0; partition < owner_of_.size(); ++partition) {
    if (owner_of_[partition] == index) found.push_back(static_cast<Partition>(partition));
  }
  return found;
}

}  // namespace orbweaver::ring
