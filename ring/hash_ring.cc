#include "ring/hash_ring.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "ring/md5_numbered.h"

namespace orbweaver::ring {

namespace {

constexpr std::uint32_t points_per_capacity = 2;
// A peer owns at most 5/4 of its fair share, or the partition that its fair share is a part of.
constexpr std::uint64_t share_over = 5;
constexpr std::uint64_t share_under = 4;

void append_big_endian(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((value >> shift) & 0xff));
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

// Sorts places on the circle by `earlier`, which goes by `at` first. They are spread evenly, as digests are. So they
// are dealt out by their leading bits, and few are left to compare.
template <class Place, class Earlier>
void sort_places(std::vector<Place>& places, Earlier earlier) {
  const int bits = std::clamp(static_cast<int>(std::bit_width(places.size())) - 2, 1, 16);
  const auto heap_of = [bits](const Place& place) { return static_cast<std::size_t>(place.at >> (64 - bits)); };
  std::vector<std::size_t> ends(std::size_t{1} << bits);  // at first the sizes of the heaps, then where each begins
  for (const Place& place : places) ++ends[heap_of(place)];
  std::size_t begin = 0;
  for (std::size_t& heap : ends) begin += std::exchange(heap, begin);
  std::vector<Place> dealt(places.size());
  for (const Place& place : places) dealt[ends[heap_of(place)]++] = place;
  begin = 0;
  for (const std::size_t end : ends) {
    std::sort(dealt.begin() + static_cast<std::ptrdiff_t>(begin), dealt.begin() + static_cast<std::ptrdiff_t>(end),
              earlier);
    begin = end;
  }
  places = std::move(dealt);
}

// Sorted by id, each id once: the same list for every order of the input.
std::vector<Owner> owners_among(const std::vector<Member>& members) {
  std::vector<Owner> owners;
  for (const Member& member : members) {
    if (!owns_partitions(member) || member.capacity == 0) continue;
    owners.push_back({member.id, std::min(member.capacity, max_capacity)});
  }
  std::sort(owners.begin(), owners.end());
  const auto same_id = [](const Owner& a, const Owner& b) { return a.id == b.id; };
  owners.erase(std::unique(owners.begin(), owners.end(), same_id), owners.end());
  return owners;
}

}  // namespace

Partition partition_of(const Md5& host_digest, std::uint32_t partitions) {
  if (!std::has_single_bit(partitions) || partitions > max_partitions) {
    broken_promise("the number of partitions must be a power of two, at most 65536");
  }
  if (partitions == 1) return 0;  // a shift by 64 is undefined
  return static_cast<Partition>(leading_bits(host_digest) >> (64 - std::countr_zero(partitions)));
}

std::uint64_t HashRing::fingerprint_of(const std::vector<Member>& members, std::uint32_t partitions) {
  std::string described;
  append_big_endian(described, partitions);
  for (const Owner& owner : owners_among(members)) {
    described.append(view_of(owner.id));
    append_big_endian(described, owner.capacity);
  }
  return leading_bits(md5(described));
}

HashRing::HashRing(const std::vector<Member>& members, std::uint32_t partitions, const HashRing& before)
    : partitions_(partitions), fingerprint_(fingerprint_of(members, partitions)) {
  if (!std::has_single_bit(partitions) || partitions > max_partitions) {
    broken_promise("the number of partitions must be a power of two, at most 65536");
  }
  const std::vector<Owner> owners = owners_among(members);
  std::uint64_t wanted = 0;
  for (const Owner& owner : owners) wanted += std::uint64_t{owner.capacity} * points_per_capacity;
  std::uint32_t divisor = 1;
  while (wanted / divisor > max_points) divisor *= 2;
  std::vector<std::uint32_t> counts;
  std::vector<std::uint64_t> capacities;
  for (const Owner& owner : owners) {
    peers_.push_back(owner.id);
    capacities.push_back(owner.capacity);
    counts.push_back(std::max<std::uint32_t>(owner.capacity * points_per_capacity / divisor, 1));
  }
  take_points(before, counts);
  if (before.partitions_ == partitions) places_ = before.places_;
  if (empty()) return;
  find_first_points();
  share_out(capacities);
}

void HashRing::find_first_points() {
  if (places_.empty()) {
    std::vector<Md5> digests(partitions_);
    md5_numbered("partition", 0, digests);
    places_.reserve(partitions_);
    for (std::uint32_t partition = 0; partition < partitions_; ++partition)
      places_.push_back({leading_bits(digests[partition]), static_cast<Partition>(partition)});
    sort_places(places_, std::less<Place>());
  }
  first_point_.resize(partitions_);
  std::size_t point = 0;
  for (const auto& [at, partition] : places_) {
    while (point < points_.size() && points_[point].at < at) ++point;
    first_point_[partition] = static_cast<std::uint32_t>(point == points_.size() ? 0 : point);
  }
}

void HashRing::share_out(const std::vector<std::uint64_t>& capacities) {
  std::uint64_t all = 0;
  for (const std::uint64_t capacity : capacities) all += capacity;
  std::vector<std::uint64_t> room;  // by peer
  for (const std::uint64_t capacity : capacities) {
    const std::uint64_t fair = (partitions_ * capacity + all - 1) / all;  // rounded up, so that there is room for all
    room.push_back(std::max(fair, share_over * partitions_ * capacity / (share_under * all)));
  }
  owner_of_.reserve(partitions_);
  for (std::uint32_t partition = 0; partition < partitions_; ++partition) {
    std::size_t point = first_point_[partition];
    while (room[points_[point].peer] == 0) point = point + 1 == points_.size() ? 0 : point + 1;
    --room[points_[point].peer];
    owner_of_.push_back(points_[point].peer);
  }
}

// Peers with as many points as before keep their points. These are already in order and stay so, because peers are
// sorted by id in both rings. Only the points of the other peers are computed.
void HashRing::take_points(const HashRing& before, const std::vector<std::uint32_t>& counts) {
  constexpr std::uint32_t gone = UINT32_MAX;
  std::vector<std::uint32_t> now(before.peers_.size(), gone);  // index in the ring before -> index now
  std::vector<Point> fresh;
  std::vector<Md5> digests;  // of one peer
  // peers_ is sorted, so a lower index is a lower id, which wins for equal points.
  const auto earlier = [](const Point& a, const Point& b) { return a.at != b.at ? a.at < b.at : a.peer < b.peer; };
  std::size_t old = 0;
  for (std::uint32_t index = 0; index < peers_.size(); ++index) {
    while (old < before.peers_.size() && before.peers_[old] < peers_[index]) ++old;
    if (old < before.peers_.size() && before.peers_[old] == peers_[index] && before.counts_[old] == counts[index]) {
      now[old] = index;
      continue;
    }
    digests.resize((counts[index] + 1) / 2);
    md5_numbered(view_of(peers_[index]), 0, digests);
    for (std::uint32_t i = 0; i < counts[index]; i += 2) {
      fresh.push_back({leading_bits(digests[i / 2]), index});
      if (i + 1 < counts[index]) fresh.push_back({trailing_bits(digests[i / 2]), index});
    }
  }
  sort_places(fresh, earlier);
  points_.reserve(before.points_.size() + fresh.size());
  auto next = fresh.begin();
  for (const Point& point : before.points_) {
    if (now[point.peer] == gone) continue;
    const Point kept{point.at, now[point.peer]};
    for (; next != fresh.end() && earlier(*next, kept); ++next) points_.push_back(*next);
    points_.push_back(kept);
  }
  points_.insert(points_.end(), next, fresh.end());
  counts_ = counts;
}

const PeerId& HashRing::owner(Partition partition) const {
  if (partition >= owner_of_.size())
    broken_promise("the owner of a partition that the ring does not have was asked for");
  return peers_[owner_of_[partition]];
}

std::vector<PeerId> HashRing::owners(Partition partition, std::size_t count) const {
  std::vector<PeerId> found;
  find_owners(partition, count, found);
  return found;
}

void HashRing::find_owners(Partition partition, std::size_t count, std::vector<PeerId>& found) const {
  found.clear();
  if (partition >= owner_of_.size() || count == 0) return;
  found.push_back(owner(partition));
  const std::size_t wanted = std::min(count, peers_.size());
  std::size_t point = first_point_[partition];
  for (std::size_t walked = 0; walked < points_.size() && found.size() < wanted; ++walked) {
    const PeerId& peer = peers_[points_[point].peer];
    if (std::find(found.begin(), found.end(), peer) == found.end()) found.push_back(peer);
    point = point + 1 == points_.size() ? 0 : point + 1;
  }
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
