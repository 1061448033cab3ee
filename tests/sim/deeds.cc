#include "tests/sim/deeds.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "node/replication/partition_manager.h"
#include "ring/codec.h"
#include "ring/hash_ring.h"
#include "ring/md5.h"
#include "tests/sim/random.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration down_time{milliseconds{300}};

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Processor time, not the wall's: other programs run on the machine too.
std::chrono::nanoseconds processor_time() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

Parameters parameters_of(const DeedOptions& options) {
  Parameters p;
  p.seed = options.seed;
  p.peers = options.peers;
  p.settings = plain_settings();
  p.settings.partitions = options.partitions;
  p.settings.replicas = 2;
  p.settings.scope = ScopeKind::any;
  p.settings.delay = milliseconds{200};
  p.settings.stop_when_done = false;
  p.web.seed = mix(options.seed);
  p.web.hosts = 100;
  p.web.pages_per_host = 10;
  p.web.dead_hosts = 0;
  p.seed_hosts = 100;
  return p;
}

// Gives each peer the directory of a ring that formed earlier and was stopped before it had a seed.
void form_earlier(World& world, const Settings& settings) {
  std::vector<ring::Member> members;
  for (const SimPeer& peer : world.peers()) {
    ring::Member member;
    member.id.bytes = ring::md5("peer " + std::to_string(peer.number));
    member.address = peer.address;
    member.incarnation = ring::incarnations_a_life;
    member.state = ring::MemberState::active;
    members.push_back(std::move(member));
  }
  ring::RingId name;
  name.bytes = ring::md5("ring");
  const ring::HashRing owners(members, settings.partitions);
  storage::Commit same;
  same.meta.emplace_back(meta_name::ring, name.hex());
  same.meta.emplace_back(meta_name::settings, nlohmann::json(ring_wide_settings(settings)).dump());
  same.meta.emplace_back(meta_name::life, "1");
  for (std::uint32_t i = 0; i < settings.partitions; ++i) {
    const auto partition = static_cast<ring::Partition>(i);
    same.meta.push_back(tenure_row({partition, {1, owners.owner(partition)}}));
  }
  for (SimPeer& peer : world.peers()) {
    ring::Sync others;
    std::copy_if(members.begin(), members.end(), std::back_inserter(others.members),
                 [&](const ring::Member& member) { return member.address != peer.address; });
    ring::Message view;
    view.ring = name;
    view.from = members[peer.number].id;
    view.body = std::move(others);
    storage::Commit commit = same;
    commit.meta.emplace_back(meta_name::peer, view.from.hex());
    commit.meta.emplace_back(meta_name::address, peer.address);
    commit.meta.emplace_back(meta_name::members, ring::encode(view));
    auto store = storage::Store::open(*peer.kv);
    if (!store || !store->commit(commit)) std::abort();  // in memory
  }
}

class Watch {
 public:
  Watch(World& world, const std::function<void(const Deed&)>& report) : world_(&world), report_(&report) {}

  bool quiet(Duration lasts) {
    const WorldStats before = begin();
    if (!world_->run(world_->since_start() + lasts)) return false;
    report("quiet", before, lasts);
    for (const auto& [type, traffic] : since(before)) {
      quiet_[type].messages = traffic.messages / in_seconds(lasts);
      quiet_[type].bytes = traffic.bytes / in_seconds(lasts);
    }
    return true;
  }

  bool deed(const std::string& name, Duration lasts, const std::function<void()>& what) {
    const WorldStats before = begin();
    what();
    if (!world_->run(world_->since_start() + lasts)) return false;
    report(name, before, lasts);
    return true;
  }

 private:
  struct Sent {
    double messages = 0;
    double bytes = 0;
  };

  std::map<std::string, Sent> since(const WorldStats& before) const {
    std::map<std::string, Sent> sent;
    for (const auto& [type, traffic] : world_->stats().by_type) {
      const auto known = before.by_type.find(type);
      const Traffic earlier = known == before.by_type.end() ? Traffic{} : known->second;
      sent[type] = {static_cast<double>(traffic.messages - earlier.messages),
                    static_cast<double>(traffic.bytes - earlier.bytes)};
    }
    return sent;
  }

  WorldStats begin() {
    world_->forget_longest_step();
    return world_->stats();
  }

  void report(const std::string& name, const WorldStats& before, Duration lasts) {
    const WorldStats& now = world_->stats();
    Deed deed;
    deed.name = name;
    deed.seconds = in_seconds(lasts);
    double most = 0;
    for (const auto& [type, traffic] : since(before)) {
      const double bytes = traffic.bytes - quiet_[type].bytes * deed.seconds;
      deed.bytes += bytes;
      deed.messages += traffic.messages - quiet_[type].messages * deed.seconds;
      if (bytes <= most) continue;
      most = bytes;
      deed.most = type + " " + std::to_string(static_cast<std::int64_t>(bytes));
    }
    deed.longest_step_millis = std::chrono::duration<double, std::milli>(now.longest_step).count();
    deed.longest_step = now.longest_step_was;
    deed.cpu_seconds = std::chrono::duration<double>(now.step_time - before.step_time).count();
    (*report_)(deed);
  }

  World* world_;
  const std::function<void(const Deed&)>* report_;
  std::map<std::string, Sent> quiet_;  // a second, by type
};

}  // namespace

std::optional<std::string> measure_deeds(const DeedOptions& options, const std::function<void(const Deed&)>& report) {
  const Parameters parameters = parameters_of(options);
  World world(parameters, false);
  if (options.formed) form_earlier(world, parameters.settings);
  world.drop_checkers();
  world.watch_steps(processor_time);
  Watch watch(world, report);
  const std::size_t one = options.peers / 2;
  const std::size_t joiner = options.peers;
  const auto restart_all = [&] {
    for (const SimPeer& peer : world.peers())
      if (peer.status == Status::up) world.crash(peer.number, down_time);
  };
  // Full exchanges come in bursts, each peer's every 15 s: a window is a multiple of that.
  bool done = watch.deed(options.formed ? "all start" : "the ring forms", seconds{30}, [] {}) &&
              watch.quiet(seconds{30}) &&
              watch.deed("one starts again", seconds{15}, [&] { world.crash(one, down_time); });
  if (done && !options.restart_only)
    done = watch.deed("one joins", seconds{15}, [&] { world.add_peer(world.since_start(), 0); }) &&
           watch.deed("one leaves", seconds{15}, [&] { world.leave(joiner); }) &&
           watch.deed("one dies", seconds{30}, [&] { world.crash(one, std::nullopt); }) &&
           watch.deed("all start again", seconds{15}, restart_all);
  return done ? std::nullopt : std::optional(world.failures().front());
}

}  // namespace orbweaver::sim
