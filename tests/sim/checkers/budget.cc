// Budgets: no more pages are taken of a host or of a domain than the settings allow, whichever peers take them. Both
// counts move with their partition to the next holder, as waits do. Where a count was lost, or two peers held a
// partition, further pages are counted and not failed. For a domain a hand-over and a restart are no excuse.
#include <map>

#include "node/scope/scope.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Budget final : public Checker {
 public:
  std::string_view name() const override { return "budget"; }

  void committed(World& world, const Request& request) override {
    const Settings& settings = world.parameters().settings;
    if (settings.max_pages_per_host == 0 && settings.max_pages_per_domain == 0) return;
    if (request.kind != RequestKind::page || request.answer.status == 0) return;
    // Under partition_by = url the budget applies to each partition of a host.
    const auto partition = world.partition_of(request);
    Use use{{partition.value_or(0), request.host}, registrable_domain(request.host)};
    last_[request.peer] = {request.job, world.peers()[request.peer].generation, use};
    // Further forms of the URL are parts of the same visit.
    if (request.answer.canonical_redirect) {
      last_[request.peer].counts = false;
      return;
    }
    const std::uint64_t of_host = ++hosts_[use.host];
    const std::uint64_t of_domain = ++domains_[use.domain];
    if (settings.max_pages_per_host > 0 && of_host > settings.max_pages_per_host)
      beyond(world, request, of_host, request.host, world.ring_moved() || world.disks_lost());
    // A page whose outcome died with its peer is fetched again.
    const bool lost = world.disks_lost() || world.stats().taken_over > 0 || world.was_held_twice(request);
    if (settings.max_pages_per_domain > 0 && of_domain > settings.max_pages_per_domain)
      beyond(world, request, of_domain, "its domain", lost);
  }

  // The outcome was processed in the very step in which the disk failed, so it does not count.
  void crashed(World& world, std::size_t peer, const std::vector<Request>& open) override {
    const auto last = last_.find(peer);
    if (last == last_.end() || last->second.generation != world.peers()[peer].generation || !last->second.counts)
      return;
    for (const Request& request : open) {
      if (request.job != last->second.job) continue;
      --hosts_[last->second.use.host];
      --domains_[last->second.use.domain];
    }
  }

 private:
  struct Use {
    std::pair<ring::Partition, std::string> host;
    std::string domain;
  };
  struct Last {
    std::uint64_t job = 0;
    std::uint64_t generation = 0;
    Use use;
    bool counts = true;
  };

  void beyond(World& world, const Request& request, std::uint64_t pages, const std::string& of, bool permitted) {
    if (permitted) return world.tolerate("page beyond a budget");
    world.fail(name(), request.url + " is page " + std::to_string(pages) + " of " + of + ", beyond the budget");
  }

  std::map<std::pair<ring::Partition, std::string>, std::uint64_t> hosts_;
  std::map<std::string, std::uint64_t> domains_;
  std::map<std::size_t, Last> last_;
};

}  // namespace

std::unique_ptr<Checker> make_budget() { return std::make_unique<Budget>(); }

}  // namespace orbweaver::sim
