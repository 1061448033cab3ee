// Polite everywhere (contract, 3): from the server's side, a host gets one request at a time. Between the beginnings of
// two requests at least the delay passes: the crawl's, or the Crawl-delay of robots.txt once it was read. Breaches are
// counted, not failed, where two peers held a host's partition at the same time, or where both believed that they
// grant its leases. Likewise where a robots.txt of another host was asked for, and a peer began or ended meanwhile.
// A robots.txt has no copies: after a peer has begun or ended, its next holder does not know the Crawl-delay before it
// has read the file again. What it asks for until then is a robots.txt: of other hosts, then the host's own.
// Nor does a peer know it whose last writes a power cut has taken, nor the one that gets the host from that peer; nor
// one whose clock is set past the file's lifetime.
#include <algorithm>
#include <map>

#include "node/settings/units.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

constexpr Duration robots_lifetime{std::chrono::hours{24}};

class Polite final : public Checker {
 public:
  std::string_view name() const override { return "polite"; }

  void request_begun(World& world, const Request& request) override {
    Host& host = hosts_[request.host];
    Duration delay = world.parameters().delay_of(request.host);
    const bool before_own = host.elsewhere && request.kind == RequestKind::robots && host.read_among != peers_in(world);
    const auto& peers = world.peers();
    const bool forgot = request.kind == RequestKind::robots &&
                        (peers[request.peer].forgot_writes || (host.asked && peers[host.by].forgot_writes));
    const bool expired = request.kind == RequestKind::robots && is_set_forward(world, request.peer);
    if (host.rules_read && !before_own && !forgot && !expired)
      delay = std::max(delay, world.web().crawl_delay(request.host));
    std::string breach;
    if (host.open > 0) {
      breach = "two requests at a time to ";
    } else if (host.asked && request.begun < host.last + delay) {
      breach = "no more than " + duration_text(request.begun - host.last) + " between two requests to ";
    }
    if (!breach.empty()) {
      // By URL, the owner of a host's digest grants its lease: each side of a cut has an owner, polite by itself.
      const bool by_url = world.parameters().settings.partition_by == PartitionBy::url;
      // A peer that begins to hold a host learns of a robots.txt in flight there with the next renewal.
      const bool lent = (request.elsewhere || host.elsewhere) &&
                        (world.parameters().living_may_look_dead() || host.peers != peers_in(world));
      if (world.was_held_twice(request) || (by_url && world.parameters().living_may_look_dead()) || lent) {
        world.tolerate("impolite");
      } else {
        world.fail(name(), breach + request.url + " by peer " + std::to_string(request.peer));
      }
    }
    ++host.open;
    host.asked = true;
    host.elsewhere = request.elsewhere;
    host.peers = peers_in(world);
    host.last = request.begun;
    host.by = request.peer;
  }

  void request_ended(World&, const Request& request, bool) override { --hosts_[request.host].open; }

  void committed(World& world, const Request& request) override {
    // What another host's robots.txt says, where that is here, is not of this host.
    if (request.kind != RequestKind::robots || request.answer.status != 200 || path_in(request.url) != "/robots.txt")
      return;
    hosts_[request.host].rules_read = true;
    hosts_[request.host].read_among = peers_in(world);
  }

  // A robots.txt that could not be committed is not known. One that is out of date after a clock was set forth is not
  // used, and of a host whose wait died with the peer nothing else tells that it wants a longer one.
  void crashed(World& world, std::size_t, const std::vector<Request>& open) override {
    const auto sets_forth = [](const Fault& fault) { return fault.clock > robots_lifetime; };
    const std::vector<Fault>& faults = world.parameters().faults;
    if (std::any_of(faults.begin(), faults.end(), sets_forth))
      for (auto& [name, host] : hosts_) host.rules_read = false;
    for (const Request& request : open)
      if (request.kind == RequestKind::robots && request.over) hosts_[request.host].rules_read = false;
  }

 private:
  static bool is_set_forward(const World& world, std::size_t peer) {
    const std::vector<Fault>& faults = world.parameters().faults;
    return std::any_of(faults.begin(), faults.end(),
                       [&](const Fault& fault) { return fault.peer == peer && fault.clock >= robots_lifetime; });
  }

  // Changes when a peer starts or ends.
  static std::pair<std::uint64_t, std::uint64_t> peers_in(World& world) {
    std::pair<std::uint64_t, std::uint64_t> sum;
    for (const SimPeer& peer : world.peers()) {
      sum.first += peer.generation;
      sum.second += peer.core != nullptr ? 1 : 0;
    }
    return sum;
  }
  struct Host {
    int open = 0;
    bool asked = false;
    bool elsewhere = false;                         // the last request was for another host's robots.txt
    std::pair<std::uint64_t, std::uint64_t> peers;  // at the last request
    bool rules_read = false;
    std::pair<std::uint64_t, std::uint64_t> read_among;  // peers then
    Time last{};
    std::size_t by = 0;  // the peer of the last request
  };
  std::map<std::string, Host> hosts_;
};

}  // namespace

std::unique_ptr<Checker> make_polite() { return std::make_unique<Polite>(); }

}  // namespace orbweaver::sim
