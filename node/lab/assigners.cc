#include "node/lab/assigners.h"

#include <algorithm>
#include <map>

#include "ring/hash_ring.h"
#include "ring/md5.h"
#include "ring/messages.h"

namespace orbweaver {

namespace {

// splitmix64's finaliser: any two inputs give unrelated outputs.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class Modulo final : public Assigner {
 public:
  explicit Modulo(std::size_t peers) : peers_(peers) {}
  std::uint32_t owner(std::uint64_t key) const override { return static_cast<std::uint32_t>(key % peers_); }

 private:
  std::uint64_t peers_;
};

class Jump final : public Assigner {
 public:
  explicit Jump(std::size_t peers) : peers_(static_cast<std::int64_t>(peers)) {}
  // The paper's figure 1: jumps to the next number of peers at which the key would move, until there are fewer peers.
  std::uint32_t owner(std::uint64_t key) const override {
    std::int64_t at = -1;
    std::int64_t next = 0;
    while (next < peers_) {
      at = next;
      key = key * 2862933555777941757ULL + 1;
      const double draw = static_cast<double>(std::int64_t{1} << 31) / static_cast<double>((key >> 33) + 1);
      next = static_cast<std::int64_t>(static_cast<double>(at + 1) * draw);
    }
    return static_cast<std::uint32_t>(at);
  }

 private:
  std::int64_t peers_;
};

class Rendezvous final : public Assigner {
 public:
  explicit Rendezvous(std::vector<std::uint64_t> peers) : peers_(std::move(peers)) {}
  std::uint32_t owner(std::uint64_t key) const override {
    std::uint32_t best = 0;
    std::uint64_t highest = 0;
    for (std::uint32_t i = 0; i < peers_.size(); ++i) {
      const std::uint64_t weight = mix(key ^ mix(peers_[i]));
      if (i > 0 && weight <= highest) continue;
      highest = weight;
      best = i;
    }
    return best;
  }

 private:
  std::vector<std::uint64_t> peers_;
};

class Consistent final : public Assigner {
 public:
  Consistent(const std::vector<std::uint64_t>& peers, std::uint32_t points) {
    for (std::uint32_t i = 0; i < peers.size(); ++i)
      for (std::uint32_t point = 0; point < points; ++point)
        points_.emplace_back(mix(mix(peers[i]) ^ (std::uint64_t{point} << 32)), i);
    std::sort(points_.begin(), points_.end());
  }
  std::uint32_t owner(std::uint64_t key) const override {
    const auto at = std::lower_bound(points_.begin(), points_.end(), std::pair(key, std::uint32_t{0}));
    return at == points_.end() ? points_.front().second : at->second;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> points_;
};

class Ring final : public Assigner {
 public:
  static constexpr std::uint32_t partitions = assigner_partitions;
  explicit Ring(const std::vector<std::uint64_t>& peers) {
    std::vector<ring::Member> members(peers.size());
    std::map<ring::PeerId, std::uint32_t> places;
    for (std::uint32_t i = 0; i < peers.size(); ++i) {
      const ring::Md5 digest = ring::md5("peer " + std::to_string(peers[i]));
      std::copy_n(digest.begin(), members[i].id.bytes.size(), members[i].id.bytes.begin());
      members[i].state = ring::MemberState::active;
      members[i].capacity = 100;
      places[members[i].id] = i;
    }
    const ring::HashRing ring(members, partitions);
    for (std::uint32_t partition = 0; partition < partitions; ++partition)
      owners_.push_back(places.at(ring.owner(static_cast<ring::Partition>(partition))));
  }
  std::uint32_t owner(std::uint64_t key) const override { return owners_[key >> (64 - 10)]; }

 private:
  std::vector<std::uint32_t> owners_;  // by partition: the leading bits of the key
};

}  // namespace

std::string AssignerKind::name() const {
  switch (method) {
    case Method::modulo:
      return "modulo";
    case Method::jump:
      return "jump";
    case Method::rendezvous:
      return "rendezvous";
    case Method::consistent:
      return "consistent, " + std::to_string(points) + (points == 1 ? " point" : " points");
    case Method::ring:
      break;
  }
  return "Orbweaver's ring";
}

std::unique_ptr<Assigner> make_assigner(const AssignerKind& kind, const std::vector<std::uint64_t>& peers) {
  switch (kind.method) {
    case AssignerKind::Method::modulo:
      return std::make_unique<Modulo>(peers.size());
    case AssignerKind::Method::jump:
      return std::make_unique<Jump>(peers.size());
    case AssignerKind::Method::rendezvous:
      return std::make_unique<Rendezvous>(peers);
    case AssignerKind::Method::consistent:
      return std::make_unique<Consistent>(peers, kind.points);
    case AssignerKind::Method::ring:
      break;
  }
  return std::make_unique<Ring>(peers);
}

std::vector<AssignerKind> assigner_kinds() {
  using enum AssignerKind::Method;
  return {{modulo, 0},      {jump, 0},         {rendezvous, 0},     {consistent, 1},
          {consistent, 10}, {consistent, 100}, {consistent, 1'000}, {ring, 0}};
}

}  // namespace orbweaver
