#include "tests/sim/minimize.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "node/config/settings_table.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

using std::chrono::seconds;

// At the end this many other orders of events are tried, for a shorter log.
constexpr std::uint64_t other_orders = 60;

struct Candidate {
  std::string what;
  Parameters parameters;
};

// The kind of a failure, without the parts that differ from run to run: its words without digits.
std::string kind_of(const std::string& failure) {
  std::istringstream words(failure.substr(0, failure.find('\n')));
  std::string kind;
  for (std::string word; words >> word;)
    if (std::none_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; })) kind += word + " ";
  return kind;
}

bool uneventful(std::string_view line) { return line.ends_with(" tick -> 0"); }

// Removes peer `gone`; the numbers of later peers move down by one.
Parameters without_peer(const Parameters& p, std::size_t gone) {
  const auto moved = [&](std::size_t peer) { return peer > gone ? peer - 1 : peer; };
  Parameters out = p;
  if (gone < p.peers) --out.peers;
  out.faults.clear();
  out.skews.clear();
  for (Fault fault : p.faults) {
    if (fault.of_one_peer() && fault.peer == gone) continue;
    fault.peer = fault.of_one_peer() ? moved(fault.peer) : fault.peer;
    fault.through = fault.through == gone ? 0 : moved(fault.through);
    std::set<std::size_t> side;
    for (const std::size_t peer : fault.side)
      if (peer != gone) side.insert(moved(peer));
    if (!fault.side.empty() && side.empty()) continue;
    fault.side = std::move(side);
    out.faults.push_back(std::move(fault));
  }
  for (const auto& [peer, by] : p.skews)
    if (peer != gone) out.skews[moved(peer)] = by;
  return out;
}

class Minimizer {
 public:
  Minimizer(std::uint64_t max_runs, const std::function<void(const std::string&)>& tell)
      : max_runs_(max_runs), tell_(tell) {}

  Minimized run(const Parameters& failing) {
    best_.parameters = failing;
    if (!fails(failing, true)) return std::move(best_);
    kind_ = kind_of(best_.failure);
    tell_("fails: " + best_.failure.substr(0, best_.failure.find('\n')));
    // A run that does not end takes the longest time, so this comes first.
    Parameters sooner = failing;
    sooner.max_time = std::min(failing.max_time, failing.faults_end + std::chrono::minutes{10});
    fails(sooner, false);
    for (bool smaller = true; smaller && best_.runs < max_runs_;) {
      smaller = false;
      // Each kind of change is repeated while it helps, before the next kind is tried.
      for (const auto& changes : {&Minimizer::fewer_deeds, &Minimizer::fewer_peers, &Minimizer::simpler_deeds,
                                  &Minimizer::calmer_network, &Minimizer::smaller_web, &Minimizer::usual_settings}) {
        for (bool again = true; again && best_.runs < max_runs_;) {
          again = false;
          candidates_.clear();
          (this->*changes)();
          for (const Candidate& candidate : candidates_) {
            if (best_.runs >= max_runs_ || !fails(candidate.parameters, false)) continue;
            tell_(std::to_string(best_.lines) + " lines: " + candidate.what);
            smaller = again = true;
            break;  // the other changes were made from the parameters before this one
          }
        }
      }
    }
    shorter_log();
    return std::move(best_);
  }

 private:
  void offer(std::string what, Parameters parameters) {
    candidates_.push_back({std::move(what), std::move(parameters)});
  }
  template <class Change>
  void try_with(const std::string& what, const Change& change) {
    Parameters p = best_.parameters;
    change(p);
    if (p.text() != best_.parameters.text()) offer(what, std::move(p));
  }

  // Runs it; when it fails in the expected way, it is the best from now on.
  bool fails(const Parameters& p, bool of_any_kind) {
    ++best_.runs;
    World world(p, true);
    if (world.run_to_end()) return false;
    if (!of_any_kind && kind_of(world.failures().front()) != kind_) return false;
    take(p, world);
    return true;
  }

  void take(const Parameters& p, const World& world) {
    best_.parameters = p;
    best_.failure = world.failures().front();
    best_.log.clear();
    best_.lines = 0;
    std::istringstream lines(world.trace().all());
    for (std::string line; std::getline(lines, line);) {
      if (uneventful(line)) continue;
      best_.log += line + "\n";
      ++best_.lines;
    }
  }

  void fewer_deeds() {
    const std::vector<Fault>& faults = best_.parameters.faults;
    // All at once first: the failure may have nothing to do with them.
    if (faults.size() > 1) try_with("no faults", [](Parameters& p) { std::erase_if(p.faults, is_no_join); });
    for (std::size_t i = 0; i < faults.size(); ++i) {
      if (faults[i].kind == Fault::Kind::join) {
        offer("without: " + faults[i].text(), without_peer(best_.parameters, faults[i].peer));
      } else {
        try_with("without: " + faults[i].text(),
                 [&](Parameters& p) { p.faults.erase(p.faults.begin() + static_cast<std::ptrdiff_t>(i)); });
      }
    }
  }

  static bool is_no_join(const Fault& fault) { return fault.kind != Fault::Kind::join; }

  void fewer_peers() {
    if (best_.parameters.peers < 2) return;
    for (std::size_t peer = 0; peer < best_.parameters.peers_in_all(); ++peer)
      offer("without peer " + std::to_string(peer), without_peer(best_.parameters, peer));
  }

  void simpler_deeds() {
    const Parameters& best = best_.parameters;
    for (const auto& [peer, by] : best.skews) {
      const std::size_t who = peer;
      try_with("no skew of peer " + std::to_string(who), [&](Parameters& p) { p.skews.erase(who); });
    }
    for (std::size_t i = 0; i < best.faults.size(); ++i) {
      const std::string name = "simpler: " + best.faults[i].text();
      try_with(name, [&](Parameters& p) { p.faults[i].held = p.faults[i].tick_last = false; });
      try_with(name, [&](Parameters& p) { p.faults[i].writes /= 2; });
      try_with(name, [&](Parameters& p) { whole_seconds(p.faults[i].at); });
      try_with(name, [&](Parameters& p) { whole_seconds(p.faults[i].down); });
      try_with(name, [&](Parameters& p) { half(p.faults[i].down); });
    }
  }

  static void whole_seconds(Duration& duration) {
    if (duration >= seconds{1}) duration -= duration % Duration{seconds{1}};
  }
  static void half(Duration& duration) {
    if (duration >= seconds{2}) {
      duration /= 2;
      whole_seconds(duration);
    }
  }

  void calmer_network() {
    try_with("a good network", [](Parameters& p) { p.network = p.healed; });
    try_with("no loss", [](Parameters& p) { p.network.loss = 0; });
    try_with("nothing doubled", [](Parameters& p) { p.network.doubled = 0; });
    try_with("nothing reordered", [](Parameters& p) { p.network.reordered = 0; });
    try_with("short delays", [](Parameters& p) { p.network.max_delay = p.healed.max_delay; });
    try_with("steps take no time", [](Parameters& p) { p.max_step = Duration{}; });
    try_with("nobody moves", [](Parameters& p) { p.moves = 0; });
    try_with("queues without bound", [](Parameters& p) { p.queue_bytes = 0; });
    try_with("quick syncs", [](Parameters& p) { p.max_sync = Duration{std::chrono::milliseconds{20}}; });
    try_with("quick parsing", [](Parameters& p) { p.max_parse = Duration{std::chrono::milliseconds{20}}; });
    try_with("faults end sooner", [](Parameters& p) { half(p.faults_end); });
    try_with("seeds for the first peer only", [](Parameters& p) { p.seeds_at_all = false; });
  }

  void smaller_web() {
    const auto fewer = [&](const std::string& what, auto number, std::uint32_t least) {
      try_with("half the " + what, [&](Parameters& p) { number(p) = std::max(least, number(p) / 2); });
      try_with("one less of " + what, [&](Parameters& p) {
        if (number(p) > least) --number(p);
      });
    };
    fewer(
        "hosts", [](Parameters& p) -> std::uint32_t& { return p.web.hosts; }, best_.parameters.seed_hosts);
    fewer(
        "seed hosts", [](Parameters& p) -> std::uint32_t& { return p.seed_hosts; }, 1);
    fewer(
        "pages", [](Parameters& p) -> std::uint32_t& { return p.web.pages_per_host; }, 1);
    fewer(
        "links", [](Parameters& p) -> std::uint32_t& { return p.web.links_per_page; }, 0);
    for (const auto& [what, field] :
         {std::pair{"redirects", &WebConfig::redirects}, std::pair{"gone pages", &WebConfig::gone},
          std::pair{"failing pages", &WebConfig::failing}, std::pair{"flaky pages", &WebConfig::flaky},
          std::pair{"slow hosts", &WebConfig::slow_hosts}, std::pair{"dead hosts", &WebConfig::dead_hosts},
          std::pair{"links away", &WebConfig::away}, std::pair{"mirrors", &WebConfig::mirrors},
          std::pair{"copies", &WebConfig::copies}, std::pair{"detours", &WebConfig::canonical_redirects},
          std::pair{"pages that kill", &WebConfig::killers}, std::pair{"long pages", &WebConfig::long_pages},
          std::pair{"validators", &WebConfig::validators}}) {
      const auto member = field;
      try_with(std::string("no ") + what, [&](Parameters& p) { p.web.*member = 0; });
    }
  }

  void usual_settings() {
    const Settings usual = default_settings();
    for (const SettingRow& row : setting_rows()) {
      if (row.name == "stop_when_done") continue;  // without it no run ends
      const std::string value = setting_text(usual, row.name);
      if (value == setting_text(best_.parameters.settings, row.name)) continue;
      Parameters p = best_.parameters;
      if (set_setting(p.settings, row.name, value)) offer("the usual " + row.name, std::move(p));
    }
  }

  // The same parameters with other delays.
  void shorter_log() {
    const Parameters found = best_.parameters;
    for (std::uint64_t order = 1; order <= other_orders && best_.runs < max_runs_; ++order) {
      Parameters p = found;
      p.seed = found.seed + order;
      const Minimized before = best_;
      if (!fails(p, false)) continue;
      if (best_.lines < before.lines) {
        tell_(std::to_string(best_.lines) + " lines: another order of events");
      } else {
        const std::uint64_t runs = best_.runs;
        best_ = before;
        best_.runs = runs;
      }
    }
  }

  std::uint64_t max_runs_;
  const std::function<void(const std::string&)>& tell_;
  std::string kind_;
  std::vector<Candidate> candidates_;
  Minimized best_;
};

}  // namespace

Minimized minimize(const Parameters& failing, std::uint64_t max_runs,
                   const std::function<void(const std::string&)>& tell) {
  return Minimizer(max_runs, tell).run(failing);
}

}  // namespace orbweaver::sim
