// Nothing is lost (contract, 1): in the end every URL that a right crawler comes to know is in a state with a reason,
// in some store, and what can be fetched is fetched; and nothing else is known. With a page limit: as many as there
// are, up to it. With a depth limit what is reached depends on which way was found first, so there each fetched page is
// held to its own links.
#include <algorithm>
#include <map>

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
    std::set<std::string> scope;
    if (settings.scope == ScopeKind::host)
      for (const std::string& seed : world.seeds()) scope.insert(std::string(host_in(seed)));
    const Walk right = walk(world.web(), world.seeds(), scope, settings.robots);
    nothing_strange(world, right);
    if (settings.max_depth > 0) return closed(world, scope);
    if (settings.max_pages > 0) return as_many(world, right.fetched.size());
    for (const std::string& url : right.fetched) expect(world, url, true);
    for (const std::string& url : right.not_fetched) expect(world, url, false);
  }

 private:
  void collect(World& world) {
    for (SimPeer& peer : world.peers()) {
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
    if (!right || (!fetched && record.reason == storage::Reason::none))
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
      if (record.state == UrlState::queued && settings.max_pages == 0)
        return world.fail(name(), url + " is still queued");
      if (record.depth > settings.max_depth && record.reason != storage::Reason::depth)
        return world.fail(name(), url + " is deeper than the limit and not excluded for it");
      if (record.state != UrlState::fetched) continue;
      const Answer answer = world.web().answer(url, world.web().config().flaky_tries);
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
