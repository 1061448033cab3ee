#include "tests/sim/deeds.h"

#include <algorithm>
#include <ctime>

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

class Watch {
 public:
  Watch(World& world, const std::function<void(const Deed&)>& report) : world_(&world), report_(&report) {}

  bool quiet(Duration lasts) {
    const WorldStats before = begin();
    if (!world_->run(world_->since_start() + lasts)) return false;
    quiet_bytes_ = static_cast<double>(world_->stats().message_bytes - before.message_bytes) / in_seconds(lasts);
    quiet_messages_ = static_cast<double>(world_->stats().messages - before.messages) / in_seconds(lasts);
    report("quiet, a second", before, Duration{});
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
  WorldStats begin() {
    world_->forget_longest_step();
    return world_->stats();
  }

  void report(const std::string& name, const WorldStats& before, Duration lasts) {
    const WorldStats& now = world_->stats();
    Deed deed;
    deed.name = name;
    deed.seconds = in_seconds(lasts);
    deed.bytes = quiet_bytes_;
    deed.messages = quiet_messages_;
    if (lasts > Duration{}) {
      deed.bytes = static_cast<double>(now.message_bytes - before.message_bytes) - quiet_bytes_ * deed.seconds;
      deed.messages = static_cast<double>(now.messages - before.messages) - quiet_messages_ * deed.seconds;
    }
    std::uint64_t most = 0;
    for (const auto& [type, traffic] : now.by_type) {
      const auto known = before.by_type.find(type);
      const std::uint64_t bytes = traffic.bytes - (known == before.by_type.end() ? 0 : known->second.bytes);
      if (bytes <= most) continue;
      most = bytes;
      deed.most = type + " " + std::to_string(bytes);
    }
    deed.longest_step_millis = std::chrono::duration<double, std::milli>(now.longest_step).count();
    deed.longest_step = now.longest_step_was;
    deed.cpu_seconds = std::chrono::duration<double>(now.step_time - before.step_time).count();
    (*report_)(deed);
  }

  World* world_;
  const std::function<void(const Deed&)>* report_;
  double quiet_bytes_ = 0;
  double quiet_messages_ = 0;
};

}  // namespace

std::optional<std::string> measure_deeds(const DeedOptions& options, const std::function<void(const Deed&)>& report) {
  World world(parameters_of(options), false);
  world.drop_checkers();
  world.watch_steps(processor_time);
  Watch watch(world, report);
  const std::size_t one = options.peers / 2;
  const std::size_t joiner = options.peers;
  const auto restart_all = [&] {
    for (const SimPeer& peer : world.peers())
      if (peer.status == Status::up) world.crash(peer.number, down_time);
  };
  bool done = watch.deed("the ring forms", seconds{30}, [] {}) && watch.quiet(seconds{10}) &&
              watch.deed("one starts again", seconds{5}, [&] { world.crash(one, down_time); });
  if (done && !options.restart_only)
    done = watch.deed("one joins", seconds{10}, [&] { world.add_peer(world.since_start(), 0); }) &&
           watch.deed("one leaves", seconds{10}, [&] { world.leave(joiner); }) &&
           watch.deed("one dies", seconds{30}, [&] { world.crash(one, std::nullopt); }) &&
           watch.deed("all start again", seconds{10}, restart_all);
  return done ? std::nullopt : std::optional(world.failures().front());
}

}  // namespace orbweaver::sim
