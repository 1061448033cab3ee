#include "tests/sim/scale.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <queue>
#include <set>

#include "node/config/settings_table.h"
#include "node/settings/settings.h"
#include "ring/codec.h"
#include "ring/hash_ring.h"
#include "ring/md5.h"
#include "ring/membership.h"
#include "tests/sim/random.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

using ring::Member;
using ring::MemberState;
using ring::PeerId;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time beginning{seconds{1'700'000'000}};
constexpr Duration quiet_time{seconds{45}};
constexpr Duration look_every{milliseconds{2}};
constexpr Duration agree_within{std::chrono::minutes{3}};

PeerId id_of(std::uint64_t seed, std::size_t number) {
  PeerId id;
  id.bytes = ring::md5("scale" + std::to_string(seed) + "/" + std::to_string(number));
  return id;
}

Member member_of(std::uint64_t seed, std::size_t number) {
  Member member;
  member.id = id_of(seed, number);
  member.address = "10.0." + std::to_string(number / 250) + "." + std::to_string(number % 250 + 1) + ":7400";
  member.incarnation = static_cast<std::uint64_t>(beginning.time_since_epoch().count());
  member.state = MemberState::active;
  return member;
}

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  for (const double value : values) {
    spread.mean += value / static_cast<double>(values.size());
    spread.largest = std::max(spread.largest, value);
  }
  return spread;
}

// Memberships on a network that delays messages but loses none.
class Memberships {
 public:
  Memberships(std::size_t peers, std::uint64_t seed) : seed_(seed), random_(seed) {
    const Settings usual = default_settings();
    config_.probe_every = usual.probe_every;
    config_.probe_timeout = usual.probe_timeout;
    config_.suspicion_time = usual.suspicion_time;
    std::vector<Member> all;
    for (std::size_t i = 0; i < peers; ++i) all.push_back(member_of(seed, i));
    for (std::size_t i = 0; i < peers; ++i) {
      add(all[i]);
      nodes_.back().membership->restore(all, now_);
    }
  }

  const ring::MembershipConfig& config() const { return config_; }
  Time now() const { return now_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t messages() const { return messages_; }
  std::size_t any() { return static_cast<std::size_t>(random_.below(nodes_.size())); }
  const PeerId& id(std::size_t node) const { return nodes_[node].membership->self().id; }

  void run(Time until) {
    while (!events_.empty() && events_.top().at <= until) {
      const Happening next = events_.top();
      events_.pop();
      now_ = next.at;
      happen(next);
    }
    now_ = until;
  }

  std::size_t join(std::size_t through) {
    Member joiner = member_of(seed_, nodes_.size());
    joiner.incarnation = static_cast<std::uint64_t>(now_.time_since_epoch().count());
    joiner.state = MemberState::joining;
    add(joiner);
    const std::size_t number = nodes_.size() - 1;
    ring::Join join;
    join.self = joiner;
    post(number, through, join);
    return number;
  }

  // The leaver notifies every peer itself.
  void leave(std::size_t node) {
    nodes_[node].membership->set_state(MemberState::leaving, now_);
    for (const auto& [id, member] : nodes_[node].membership->members())
      if (id != nodes_[node].membership->self().id)
        post_to(node, id, ring::Sync{true, {nodes_[node].membership->self()}, {}});
    nodes_[node].membership->set_state(MemberState::left, now_);
    tick(node);
    nodes_[node].up = false;
  }

  void crash(std::size_t node) { nodes_[node].up = false; }

  // The number of peers that are up and have that record in that state.
  std::size_t agreeing(const PeerId& about, MemberState state) const {
    return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
      if (!node.up) return false;
      const Member* member = node.membership->find(about);
      return member != nullptr && member->state == state;
    }));
  }
  std::size_t up() const {
    return static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.up; }));
  }

 private:
  struct Node {
    std::unique_ptr<ring::Membership> membership;
    bool up = true;
    Time wake = Time::max();
  };
  struct Happening {
    Time at;
    std::uint64_t order;
    std::size_t to;
    std::size_t from;
    std::shared_ptr<const ring::Body> body;         // null: a tick
    bool operator<(const Happening& other) const {  // for a queue whose top is the earliest
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };

  void add(const Member& self) {
    by_id_[self.id] = nodes_.size();
    nodes_.push_back({std::make_unique<ring::Membership>(self, config_, random_.next()), true, Time::max()});
    wake_at(nodes_.size() - 1, now_);
  }

  void wake_at(std::size_t node, Time at) {
    if (nodes_[node].wake == at) return;
    nodes_[node].wake = at;
    events_.push({at, order_++, node, node, nullptr});
  }

  void post_to(std::size_t from, const PeerId& to, ring::Body body) {
    const auto found = by_id_.find(to);
    if (found != by_id_.end()) post(from, found->second, std::move(body));
  }

  void post(std::size_t from, std::size_t to, ring::Body body) {
    ring::Message message;
    message.from = nodes_[from].membership->self().id;
    message.body = std::move(body);
    bytes_ += ring::encode(message).size();
    ++messages_;
    const Duration delay = random_.between(Duration{200}, Duration{milliseconds{5}});
    events_.push({now_ + delay, order_++, to, from, std::make_shared<const ring::Body>(std::move(message.body))});
  }

  void send_all(std::size_t from, const std::vector<ring::Send>& sends) {
    for (const ring::Send& send : sends) post_to(from, send.to, send.body);
  }

  void tick(std::size_t number) {
    std::vector<ring::Send> sends;
    nodes_[number].membership->tick(now_, sends);
    send_all(number, sends);
    wake_at(number, std::max(nodes_[number].membership->next_deadline(), now_ + Duration{100}));
  }

  void happen(const Happening& event) {
    Node& node = nodes_[event.to];
    if (event.body == nullptr && node.wake != event.at) return;
    if (event.body == nullptr) node.wake = Time::max();
    if (!node.up) return;
    if (event.body != nullptr) hear(event.to, event.from, *event.body);
    tick(event.to);
  }

  void hear(std::size_t to, std::size_t from, const ring::Body& body) {
    ring::Membership& membership = *nodes_[to].membership;
    const PeerId& sender = nodes_[from].membership->self().id;
    std::vector<ring::Send> sends;
    if (const auto* join = std::get_if<ring::Join>(&body)) {
      membership.merge({join->self}, now_);
      ring::Welcome welcome;
      welcome.members = membership.member_list();
      return post(to, from, std::move(welcome));
    }
    if (const auto* welcome = std::get_if<ring::Welcome>(&body)) {
      membership.merge(welcome->members, now_);
      membership.set_state(MemberState::active, now_);
      for (const auto& [id, member] : membership.members())
        if (id != membership.self().id && ring::reachable(member))
          post_to(to, id, ring::Sync{false, {membership.self()}, {}});
      return;
    }
    membership.heard_from(sender, nodes_[from].membership->self().incarnation, now_);
    if (const auto* ping = std::get_if<ring::Ping>(&body)) membership.on_ping(sender, *ping, now_, sends);
    if (const auto* asked = std::get_if<ring::PingRequest>(&body))
      membership.on_ping_request(sender, *asked, now_, sends);
    if (const auto* ack = std::get_if<ring::PingAck>(&body)) membership.on_ping_ack(sender, *ack, now_, sends);
    if (const auto* sync = std::get_if<ring::Sync>(&body)) {
      membership.merge(sync->members, now_);
      if (sync->reply_wanted) post(to, from, membership.answer(*sync));
    }
    send_all(to, sends);
  }

  std::uint64_t seed_;
  Random random_;
  ring::MembershipConfig config_;
  Time now_ = beginning;
  std::vector<Node> nodes_;
  std::map<PeerId, std::size_t> by_id_;
  std::priority_queue<Happening> events_;
  std::uint64_t order_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t messages_ = 0;
};

struct Agreed {
  double first = 0;  // seconds until the first peer knew
  double all = 0;
};

// Runs until every peer that is up has that record of `about`.
Agreed run_until_agreed(Memberships& ring, const PeerId& about, MemberState state) {
  const Time began = ring.now();
  Agreed agreed;
  while (ring.now() < began + agree_within) {
    ring.run(ring.now() + look_every);
    const std::size_t know = ring.agreeing(about, state);
    if (know > 0 && agreed.first == 0) agreed.first = in_seconds(ring.now() - began);
    if (know == ring.up()) break;
  }
  agreed.all = in_seconds(ring.now() - began);
  return agreed;
}

std::vector<Member> members_of(std::uint64_t seed, std::size_t peers) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < peers; ++i) members.push_back(member_of(seed, i));
  return members;
}

}  // namespace

RingScale measure_ring(std::size_t peers, std::uint64_t seed, std::size_t trials) {
  RingScale scale;
  scale.peers = peers;
  Memberships ring(peers, seed);
  // A starting peer gossips every member that it knows, 3 log2(peers) times (ring/membership.cc), a few dozen per
  // message, four messages per second. The ring is quiet when that is over.
  const double tellings = static_cast<double>(3 * static_cast<std::size_t>(std::bit_width(peers)) * peers);
  const double told_a_second = 4.0 * static_cast<double>(ring.config().gossip_per_message);
  ring.run(ring.now() + seconds{15} + milliseconds{static_cast<std::int64_t>(1500 * tellings / told_a_second)});
  const std::uint64_t bytes = ring.bytes();
  const std::uint64_t messages = ring.messages();
  ring.run(ring.now() + quiet_time);
  const double peer_seconds = static_cast<double>(peers) * in_seconds(quiet_time);
  scale.gossip_bytes_a_second = static_cast<double>(ring.bytes() - bytes) / peer_seconds;
  scale.gossip_messages_a_second = static_cast<double>(ring.messages() - messages) / peer_seconds;
  const double quiet_bytes = scale.gossip_bytes_a_second * static_cast<double>(peers);

  std::vector<double> joins, leaves, crashes, firsts;
  const auto settle = [&] { ring.run(ring.now() + seconds{2}); };
  const auto above_quiet = [&](std::uint64_t before, Time since) {
    return static_cast<double>(ring.bytes() - before) - quiet_bytes * in_seconds(ring.now() - since);
  };
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const auto count = static_cast<double>(trials);
    Time since = ring.now();
    std::uint64_t before = ring.bytes();
    const std::size_t joiner = ring.join(0);
    joins.push_back(run_until_agreed(ring, ring.id(joiner), MemberState::active).all);
    settle();
    scale.join_bytes += above_quiet(before, since) / count;

    since = ring.now();
    before = ring.bytes();
    ring.leave(joiner);
    leaves.push_back(run_until_agreed(ring, ring.id(joiner), MemberState::left).all);
    settle();
    scale.leave_bytes += above_quiet(before, since) / count;

    const std::size_t victim = 1 + trial;  // joiners ask peer 0
    ring.crash(victim);
    const Agreed down = run_until_agreed(ring, ring.id(victim), MemberState::down);
    crashes.push_back(down.all);
    firsts.push_back(down.first);
    settle();
  }
  scale.join_seconds = spread_of(joins);
  scale.leave_seconds = spread_of(leaves);
  scale.crash_seconds = spread_of(crashes);
  scale.first_down_seconds = spread_of(firsts);
  const double round = in_seconds(ring.config().probe_every);
  scale.join_rounds = scale.join_seconds.mean / round;
  scale.leave_rounds = scale.leave_seconds.mean / round;
  scale.crash_rounds = scale.crash_seconds.mean / round;
  return scale;
}

OwnersScale measure_owners(std::size_t peers, std::uint32_t partitions, std::uint64_t seed, std::size_t trials) {
  OwnersScale scale;
  scale.peers = peers;
  scale.partitions = partitions;
  const std::vector<Member> members = members_of(seed, peers);
  const auto began = std::chrono::steady_clock::now();
  const ring::HashRing before(members, partitions);
  scale.ring_build_millis = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  const double fair = static_cast<double>(partitions) / static_cast<double>(peers);
  scale.smallest_over_fair = partitions;
  for (const Member& member : members) {
    const double share = static_cast<double>(before.partitions_of(member.id).size()) / fair;
    scale.largest_over_fair = std::max(scale.largest_over_fair, share);
    scale.smallest_over_fair = std::min(scale.smallest_over_fair, share);
  }
  std::vector<double> joins, leaves;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    std::vector<Member> more = members;
    more.push_back(member_of(seed, peers + trial));
    const ring::HashRing joined(more, partitions);
    std::vector<Member> fewer = members;
    const std::size_t gone = trial * peers / trials;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(gone));
    const ring::HashRing left(fewer, partitions);
    std::uint64_t moved = 0, handed_over = 0, owned = 0;
    for (std::uint32_t i = 0; i < partitions; ++i) {
      const auto partition = static_cast<ring::Partition>(i);
      const bool was_its = before.owner(partition) == members[gone].id;
      const bool moves = joined.owner(partition) != before.owner(partition);
      const bool leaves_it = left.owner(partition) != before.owner(partition);
      moved += moves;
      handed_over += leaves_it;
      owned += was_its;
      if (moves && joined.owner(partition) != more.back().id) ++scale.moved_elsewhere;
      if (leaves_it && !was_its) ++scale.moved_elsewhere;
    }
    joins.push_back(static_cast<double>(moved) * static_cast<double>(peers + 1) / partitions);
    if (owned > 0) leaves.push_back(static_cast<double>(handed_over) / static_cast<double>(owned));
  }
  scale.join_moved_over_least = spread_of(joins);
  scale.leave_moved_over_least = spread_of(leaves);
  return scale;
}

std::optional<CrawlScale> measure_crawl(std::size_t peers, std::uint64_t seed, std::string& failure) {
  Parameters p;
  p.seed = seed;
  p.peers = peers;
  p.settings = plain_settings();
  p.settings.scope = ScopeKind::any;
  p.settings.delay = milliseconds{200};
  p.settings.stop_when_done = true;
  p.web.seed = mix(seed);
  p.web.hosts = 200;
  p.web.pages_per_host = 40;
  p.web.dead_hosts = 0;
  p.seed_hosts = 200;
  p.recount_every = 4096;
  World world(p, false);
  if (!world.run_to_end()) {
    failure = world.failures().front();
    return std::nullopt;
  }
  CrawlScale scale;
  scale.peers = peers;
  scale.seconds = in_seconds(world.since_start());
  for (const SimPeer& peer : world.peers()) scale.urls += peer.counts.discovered();
  const auto urls = static_cast<double>(scale.urls);
  for (const auto& [type, traffic] : world.stats().by_type) {
    const auto messages = static_cast<double>(traffic.messages);
    const auto bytes = static_cast<double>(traffic.bytes);
    if (type.starts_with("batch")) {
      scale.forward_messages_a_url += messages / urls;
      scale.forward_bytes_a_url += bytes / urls;
    } else if (type.starts_with("wave")) {
      scale.wave_messages_a_second += messages / scale.seconds;
    } else if (type.starts_with("ping") || type == "sync") {
      scale.gossip_bytes_a_second += bytes / scale.seconds / static_cast<double>(peers);
    }
  }
  return scale;
}

}  // namespace orbweaver::sim
