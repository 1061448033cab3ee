// Nothing is lost (contract, 1): in the end every URL that a correct crawler learns is in some store, in a state with a
// reason; each page that can be fetched is fetched; and no other URL is known. With a page limit, as many pages are
// fetched as exist, up to the limit. Where the order of discovery decides (a depth limit, budgets, traps), each fetched
// page is checked against its own links, and each excluded one against its reason.
#include <algorithm>
#include <map>

#include "node/robots/robots_fetch.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

using storage::UrlRecord;
using storage::UrlState;

class Lost final : public Checker {
 public:
  std::string_view name() const override { return "lost"; }

  void ended(World& world) override {
    collect(world);
    if (!world.failures().empty()) return;
    const Settings& settings = world.parameters().settings;
    std::vector<std::string> seeds = world.seeds();
    for (const std::string& url : world.unanswered_seeds())
      if (known_.contains(url)) seeds.push_back(url);
    std::set<std::string> scope;
    if (settings.scope == ScopeKind::host)
      for (const std::string& seed : seeds) scope.insert(std::string(host_in(seed)));
    const bool month = counts_as_a_month(world);
    std::vector<std::string> from = seeds;
    if (month) {  // a robots.txt that counted as missing later may have named sitemaps before
      const Walk before = walk(world.web(), seeds, scope, true);
      for (const auto* urls : {&before.fetched, &before.not_fetched})
        from.insert(from.end(), urls->begin(), urls->end());
    }
    const Walk right = walk(world.web(), from, scope, settings.robots && !month);
    nothing_strange(world, right);
    for (const auto& [url, record] : known_)
      for (const auto reason : {storage::Reason::trap, storage::Reason::budget, storage::Reason::crashes_crawler})
        if (record.reason == reason) world.count("kept out: " + std::string(storage::reason_name(reason)));
    if (settings.max_depth > 0 || may_be_kept_out(world) || !given_up(world).empty() || month || blocked(world))
      return closed(world, scope);
    if (settings.max_pages > 0) return as_many(world, right.fetched.size());
    for (const std::string& url : right.fetched) expect(world, url, true);
    for (const std::string& url : right.not_fetched) expect(world, url, false);
  }

 private:
  // After 30 days without an answer a robots.txt counts as missing (RFC 9309, 2.3.1.4). A clock that is set forward
  // that far makes a month of two failures.
  bool counts_as_a_month(World& world) const {
    const Parameters& parameters = world.parameters();
    const bool forward = std::any_of(parameters.faults.begin(), parameters.faults.end(),
                                     [](const Fault& fault) { return fault.clock >= max_robots_unreachable; });
    const bool fetched = std::any_of(known_.begin(), known_.end(), [&world](const auto& known) {
      return known.second.state == UrlState::fetched &&
             world.web().robots_of(host_in(known.first)) == RobotsFile::unavailable;
    });
    if (!parameters.settings.robots || !forward || !fetched) return false;
    world.tolerate("a clock made a month of two failures");
    return true;
  }

  static bool budgets(const Settings& settings) {
    return settings.max_pages_per_host > 0 || settings.max_bytes_per_host > 0 || settings.max_pages_per_domain > 0 ||
           settings.max_bytes_per_domain > 0;
  }
  static bool may_be_kept_out(const World& world) {
    const Settings& settings = world.parameters().settings;
    return budgets(settings) || settings.max_bytes > 0 || world.web().config().mirrors > 0;
  }

  // The crawl had nothing left before its operator took back the block.
  bool blocked(World& world) const {
    const bool any = std::any_of(known_.begin(), known_.end(), [](const auto& known) {
      return known.second.reason == storage::Reason::operator_block;
    });
    if (any) world.tolerate("ended while a host was blocked");
    return any;
  }

  // A page that a peer was reading at two crashes, though it does not kill; its links may stay unknown.
  std::string given_up(const World& world) const {
    for (const auto& [url, record] : known_)
      if (record.reason == storage::Reason::crashes_crawler && !world.web().kills(url)) return url;
    return {};
  }

  // Why a record is not fetched, where the web alone does not show it.
  bool justified(const World& world, const UrlRecord& record) const {
    const Settings& settings = world.parameters().settings;
    const FakeWeb& web = world.web();
    switch (record.reason) {
      case storage::Reason::budget:
        return budgets(settings);
      case storage::Reason::trap:
        return record.depth > 0 &&
               (web.mirrored(host_in(record.url)) || web.config().copies > 0 || record.depth > settings.trap_depth);
      case storage::Reason::crashes_crawler:
        return world.may_be_given_up(record.url);
      case storage::Reason::bad_port:
        return has_bad_port(record.url);
      default:
        return true;
    }
  }

  void collect(World& world) {
    for (SimPeer& peer : world.peers()) {
      if (peer.may_be_refused || came_back_too_late(world, peer)) continue;
      auto store = storage::Store::open(*peer.kv);
      if (!store) return world.fail(name(), store.error().message);
      for (const std::uint16_t partition : store->partitions()) {
        const auto records = store->scan(partition, nullptr, 1'000'000);
        if (!records) return world.fail(name(), records.error().message);
        for (const storage::Merge& merge : *records) {
          const auto [at, added] = known_.try_emplace(merge.record.url, merge.record);
          if (!added) at->second = storage::merge(at->second, merge.record);
        }
      }
    }
  }

  // The others counted it as dead (presume_dead_after), and their crawl ended before it met them again. What it found
  // alone stays on its disk.
  static bool came_back_too_late(World& world, const SimPeer& peer) {
    const bool late = world.sides_may_end_alone() && peer.exit && peer.exit->code != 0 &&
                      peer.exit->message.find("the crawl has ended") != std::string::npos;
    if (late) world.tolerate("what a peer found alone, that came back when the crawl had ended");
    return late;
  }

  void nothing_strange(World& world, const Walk& right) {
    for (const auto& [url, record] : known_)
      if (!right.fetched.contains(url) && !right.not_fetched.contains(url))
        return world.fail(name(), url + " is known, and no page in scope leads to it");
  }

  void expect(World& world, const std::string& url, bool fetched) {
    const auto found = known_.find(url);
    if (found == known_.end()) return world.fail(name(), url + " is not known to any peer");
    const UrlRecord& record = found->second;
    const bool right = fetched ? record.state == UrlState::fetched
                               : record.state == UrlState::failed || record.state == UrlState::excluded;
    if (!right || (!fetched && record.reason == storage::Reason::none) || !justified(world, record))
      world.fail(name(), url + " is " + std::string(storage::state_name(record.state)) + " (" +
                             std::string(storage::reason_name(record.reason)) + "), it " +
                             (fetched ? "can be fetched" : "cannot be fetched"));
  }

  void as_many(World& world, std::size_t fetchable) {
    const std::uint64_t wanted = std::min<std::uint64_t>(world.parameters().settings.max_pages, fetchable);
    const auto fetched = static_cast<std::uint64_t>(
        std::count_if(known_.begin(), known_.end(), [](const auto& k) { return k.second.state == UrlState::fetched; }));
    if (fetched < wanted)
      world.fail(name(), std::to_string(fetched) + " pages are fetched, the limit allows " + std::to_string(wanted));
  }

  void closed(World& world, const std::set<std::string>& scope) {
    const Settings& settings = world.parameters().settings;
    for (const auto& [url, record] : known_) {
      if (record.state == UrlState::queued && settings.max_pages == 0 && settings.max_bytes == 0)
        return world.fail(name(), url + " is still queued");
      if (!justified(world, record))
        return world.fail(
            name(), url + " is kept out (" + std::string(storage::reason_name(record.reason)) + "), and should not be");
      if (settings.max_depth > 0 && record.depth > settings.max_depth && record.reason != storage::Reason::depth)
        return world.fail(name(), url + " is deeper than the limit and not excluded for it");
      if (record.state != UrlState::fetched) continue;
      const Answer answer = last_answer(world.web(), url);
      for (const std::string& link : answer.links) {
        if (!scope.empty() && !scope.contains(std::string(host_in(link)))) continue;
        const auto found = known_.find(link);
        if (found == known_.end()) return world.fail(name(), link + " is not known, " + url + " links to it");
      }
    }
  }

  std::map<std::string, UrlRecord> known_;
};

}  // namespace

std::unique_ptr<Checker> make_lost() { return std::make_unique<Lost>(); }

}  // namespace orbweaver::sim
