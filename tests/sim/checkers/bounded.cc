// Bounded (contract, 5): fetches of a peer, batches in flight from one peer to another, and each table that a peer
// keeps in memory (ring/table_sizes.h). A table's bound follows from settings, partitions and the peers that there have
// been; of some, from the size of another table. Those of work in progress are empty when a peer ends with the crawl,
// but for what follows from peers that ended before it.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "node/crawl/event_log.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

// What bounds are made of.
struct Sizes {
  const Settings& settings;
  ring::TableSizes tables;    // sorted by name
  std::size_t peers = 0;      // identities that there have been
  std::size_t processes = 0;  // starts of them
  std::size_t pages = 0;      // of the web

  std::size_t of(std::string_view table) const {
    const auto found = std::lower_bound(tables.begin(), tables.end(), table, by_name);
    return found == tables.end() || found->name != table ? 0 : found->entries;
  }
  static bool by_name(const ring::TableSize& one, std::string_view name) { return one.name < name; }
  std::size_t partitions() const { return settings.partitions; }
  std::size_t copies() const { return partitions() * (settings.replicas - 1); }
  std::size_t fetches() const { return settings.max_fetches; }
  std::size_t hosts() const { return of("bench.hosts"); }
  std::size_t records() const { return settings.max_outbox_records_in_memory; }
  std::size_t windows() const { return peers * settings.max_batches_in_flight; }
  // Who was forgotten leaves a list when it has doubled since the last look, and lists of less than 64 are not looked
  // at (dependents.h): so it is the most dependents that there can have been that count.
  std::size_t list() const {
    return std::max<std::size_t>(64, 2 * (records() + fetches() + 2 * processes * settings.max_batches_in_flight));
  }
};

enum class Rest : std::uint8_t {
  may_stay,
  empty,                    // when a peer ends with the crawl
  empty_if_all_is_fetched,  // the same, but for a crawl that ends at a limit
};

struct Rule {
  std::size_t (*most)(const Sizes&);
  Rest rest = Rest::may_stay;
};

std::size_t none(const Sizes&) { return 0; }
std::size_t each_peer(const Sizes& s) { return s.peers; }
std::size_t each_partition(const Sizes& s) { return s.partitions(); }
std::size_t each_copy(const Sizes& s) { return s.copies(); }
std::size_t each_fetch(const Sizes& s) { return s.fetches(); }
std::size_t each_host(const Sizes& s) { return s.hosts(); }
std::size_t each_window(const Sizes& s) { return s.windows(); }

const std::map<std::string_view, Rule>& rules() {
  using enum Rest;
  static const std::map<std::string_view, Rule> rules = {
      {"membership.members", {each_peer}},
      {"membership.suspicions", {each_peer}},
      {"membership.gone", {each_peer}},
      {"membership.heard", {each_peer}},
      {"membership.gossip", {each_peer}},
      {"membership.probes", {each_peer}},
      {"membership.relays", {[](const Sizes& s) { return s.peers * s.peers; }}},
      // Who comes back is probed once more in the round.
      {"membership.round", {[](const Sizes& s) { return 2 * s.peers; }}},
      {"members.states", {each_peer}},
      {"members.come_or_gone", {each_peer}},
      {"members.down", {each_peer}},
      {"members.versions", {each_peer}},
      // An outcome, a page in pieces, a batch that is not acknowledged yet, or sitemaps.
      {"dependents.open",
       {[](const Sizes& s) {
          return s.of("replicator.outcomes") + s.fetches() + s.of("moves.unanswered") + s.of("moves.named_sitemaps");
        },
        empty}},
      {"dependents.followers", {[](const Sizes& s) { return 2 * s.of("dependents.open") + 1; }, empty}},
      {"dependents.met", {none}},
      {"open_entries.blocks", {[](const Sizes&) { return std::size_t{16'384}; }, empty}},
      {"open_entries.waiting", {[](const Sizes& s) { return (s.of("open_entries.blocks") + 1) * s.list(); }}},
      {"outbox.queues", {each_peer}},
      {"outbox.waiting", {[](const Sizes& s) { return s.peers * s.records(); }, empty}},
      {"outbox.in_flight", {each_window, empty}},
      {"replicator.queues", {each_peer}},
      // Who is fetching, or has been heard, when it becomes full still adds what it brings.
      {"replicator.items",
       {[](const Sizes& s) {
          return s.settings.replicas *
                 (s.records() + (s.fetches() + 1) * many_links + 3 * s.windows() * s.settings.max_batch_records);
        },
        empty}},
      {"replicator.in_flight", {each_window, empty}},
      {"replicator.waits", {[](const Sizes& s) { return (s.of("replicator.queues") + 1) * s.list(); }}},
      {"replicator.outcomes", {[](const Sizes& s) { return s.records(); }, empty}},
      {"replicator.given_up", {none}},
      {"transfers.tasks", {[](const Sizes& s) { return s.partitions() * (s.peers - 1); }}},
      {"transfers.partitions", {each_partition}},
      {"transfers.targets", {each_peer}},
      // What a peer keeps beyond its share it may offer until the last (seed 11497).
      {"transfers.in_flight", {each_window}},
      {"transfers.questions", {[](const Sizes& s) { return s.of("transfers.targets") * 1024; }}},
      {"transfers.frozen", {each_partition}},
      {"transfers.thawed", {each_partition}},
      {"transfers.done", {none}},
      {"transfers.equal", {each_partition}},
      {"record_asks.rounds", {[](const Sizes& s) { return s.partitions() + 1; }}},
      {"record_asks.partitions", {[](const Sizes& s) { return 2 * s.partitions(); }}},
      {"record_asks.asked", {each_peer}},
      {"record_asks.to_ask", {each_peer}},
      {"record_asks.ended", {none}},
      {"partitions.held", {each_partition}},
      {"partitions.returned", {each_partition}},
      {"partitions.backfilled", {each_copy}},
      {"partitions.in_part", {each_copy, empty}},
      {"partitions.asked", {each_partition, empty}},
      {"partitions.asked_again", {each_partition, empty}},
      {"partitions.written_late", {each_partition, empty}},
      {"partitions.patient", {each_partition, empty}},
      {"partitions.returned_in_part", {each_partition, empty}},
      {"partitions.releasing", {each_partition, empty}},
      {"partitions.fetchability_changed", {each_partition}},
      {"partitions.unknown_holders", {each_peer}},
      {"partitions.of_unknown", {each_partition}},
      {"partitions.last_access_unknown", {each_partition, empty}},
      {"partitions.offered", {each_partition, empty_if_all_is_fetched}},
      {"partitions.to_plan", {each_partition}},
      {"partitions.gaining", {each_partition}},
      {"partitions.awaiting", {each_partition}},
      {"partitions.unfilled", {each_partition}},
      {"partitions.stranded", {each_partition}},
      {"partitions.candidates", {[](const Sizes&) { return std::size_t{64}; }}},
      // A sender's batches of links and of transfers.
      {"moves.unanswered", {[](const Sizes& s) { return 2 * s.windows(); }, empty}},
      {"moves.safe_from", {each_partition, empty}},
      {"moves.named_sitemaps", {each_partition}},
      // A question that arrives late, when its copy is dropped already, leaves one.
      {"moves.may_drop", {[](const Sizes& s) { return s.partitions() * (s.peers - 1); }}},
      {"moves.changed", {each_partition}},
      {"moves.kept", {[](const Sizes&) { return std::size_t{65'536}; }, empty}},
      {"waves.members", {each_peer}},
      {"waves.replies", {each_peer}},
      {"waves.last_passive", {each_peer}},
      {"waves.grants", {each_peer}},
      {"ending.acknowledged", {each_peer}},
      {"ending.members", {each_peer}},
      {"ending.agreed", {each_peer}},
      {"fence.answered", {each_peer}},
      {"fence.confirmed_by", {each_peer}},
      {"fence.unanswered", {each_peer}},
      {"events", {[](const Sizes&) { return EventLog::max_events; }}},
      {"directives.differing", {each_peer, empty}},
      {"directives.sent_orders", {each_peer, empty}},
      {"directives.orders", {[](const Sizes&) { return OperatorOrders::max_rows; }}},
      {"seeds.due", {[](const Sizes& s) { return s.pages; }, empty}},
      {"seeds.redirects", {[](const Sizes& s) { return s.pages; }}},
      {"doorkeeper.duplicates", {each_peer}},
      {"budgets.under_way", {each_fetch, empty}},
      {"redirects.forms", {[](const Sizes&) { return std::size_t{16'384}; }}},
      {"redirects.in_order", {[](const Sizes& s) { return s.of("redirects.forms"); }}},
      {"crashes.pages", {[](const Sizes& s) { return s.pages; }}},
      {"shares.transfers", {each_fetch, empty}},
      {"shares.lines",
       {[](const Sizes& s) { return 2 * s.of("shares.transfers") + s.of("shares.waiting"); }, empty_if_all_is_fetched}},
      // A host whose partition has gone stays in the line until its turn. At the page limit no turn comes any more.
      {"shares.waiting",
       {[](const Sizes& s) { return s.settings.max_hosts_in_memory + s.hosts() + s.fetches(); },
        empty_if_all_is_fetched}},
      {"shares.in_order", {[](const Sizes& s) { return s.of("shares.waiting"); }, empty_if_all_is_fetched}},
      {"shares.open", {[](const Sizes& s) { return s.of("shares.lines"); }, empty_if_all_is_fetched}},
      {"bench.hosts", {[](const Sizes& s) { return s.settings.max_hosts_in_memory + s.fetches(); }}},
      {"bench.ready", {each_host}},
      {"bench.waiting", {[](const Sizes& s) { return s.pages; }}},
      {"bench.due", {[](const Sizes& s) { return 2 * s.hosts(); }}},
      {"bench.resumed", {each_host}},
      {"bench.lent", {[](const Sizes& s) { return 1000 + s.of("leases.turns"); }}},
      {"bench.issued", {[](const Sizes& s) { return s.hosts() + s.of("fetches.jobs"); }, empty}},
      {"mirrors.pages", {[](const Sizes&) { return std::size_t{100'000}; }}},
      {"mirrors.hosts", {[](const Sizes&) { return std::size_t{50'000}; }}},
      {"mirrors.unsent", {[](const Sizes& s) { return s.pages; }}},
      {"fetches.jobs", {each_fetch, empty}},
      {"fetches.in_pieces", {[](const Sizes& s) { return s.of("fetches.jobs"); }, empty}},
      {"cookies.unwritten", {[](const Sizes& s) { return s.of("fetches.jobs"); }, empty}},
      {"slots.wanted", {each_host}},
      {"slots.unsent", {[](const Sizes& s) { return s.of("slots.wanted"); }}},
      {"slots.round_trips", {each_peer}},
      {"slots.addresses", {[](const Sizes& s) { return s.pages; }}},
      {"slots.own_requests", {[](const Sizes& s) { return std::max<std::size_t>(64, s.pages); }}},
      // Of a host in memory, and what was returned to an owner that does not answer.
      {"leases.wanted", {[](const Sizes& s) { return s.hosts() + s.pages; }}},
      {"leases.of_hosts", {[](const Sizes& s) { return s.of("leases.wanted"); }}},
      {"leases.unsent", {[](const Sizes& s) { return s.of("leases.wanted"); }}},
      {"leases.turns", {[](const Sizes& s) { return s.pages; }}},
      {"leases.hosts", {[](const Sizes& s) { return s.pages; }}},
      {"leases.clocks", {[](const Sizes& s) { return s.pages; }}},
      {"robots.shared", {[](const Sizes& s) { return std::size_t{s.settings.max_hosts_in_memory}; }}},
      {"robots.to_parse", {each_host, empty}},
      {"questions.under_way", {[](const Sizes&) { return std::size_t{256}; }}},
      {"snapshot.waiting", {[](const Sizes& s) { return 3 * s.windows(); }, empty}},
  };
  return rules;
}

constexpr Duration lately{std::chrono::seconds{30}};
// The tables are looked at once in so many steps.
constexpr std::uint64_t look_every = 16;

class Bounded final : public Checker {
 public:
  std::string_view name() const override { return "bounded"; }

  void request_begun(World& world, const Request& request) override {
    const SimPeer& peer = world.peers()[request.peer];
    if (peer.requests.size() > peer.settings.values.max_fetches)
      world.fail(name(), "peer " + std::to_string(request.peer) + " has " + std::to_string(peer.requests.size()) +
                             " fetches under way");
  }

  void message_sent(World& world, std::size_t from, std::size_t to, const ring::Message& message) override {
    if (const auto* roots = std::get_if<ring::Roots>(&message.body))
      if (roots->roots.size() > world.parameters().partitions_a_step)
        world.fail(name(), std::to_string(roots->roots.size()) + " partitions are compared in one message");
    const auto* batch = std::get_if<ring::Batch>(&message.body);
    if (batch == nullptr) return;
    const Settings& settings = world.peers()[from].settings.values;
    Link& link = links_[{from, to}];
    if (link.generation != world.peers()[from].generation) link = {world.peers()[from].generation, {}};
    // Links, copies and transfers are limited separately.
    std::map<std::uint64_t, Time>& under_way = link.under_way[batch->kind];
    // A batch that its sender no longer waits for is not sent again, and is forgotten after its timeout.
    std::erase_if(under_way, [&](const auto& sent) { return world.now() - sent.second > settings.batch_timeout; });
    under_way[batch->sequence] = world.now();
    // A peer that restarted with a new disk may still get batches meant for its former self.
    if (under_way.size() > settings.max_batches_in_flight * (1 + world.peers()[to].disks))
      world.fail(name(), "peer " + std::to_string(from) + " has " + std::to_string(under_way.size()) +
                             " batches under way to peer " + std::to_string(to));
    if (batch->records.size() > 2 * std::size_t{settings.max_batch_records})
      world.fail(name(), "a batch of " + std::to_string(batch->records.size()) + " records");
  }

  void message_arrived(World&, std::size_t from, std::size_t to, const ring::Message& message) override {
    for (auto& [kind, under_way] : links_[{to, from}].under_way) {
      if (const auto* ack = std::get_if<ring::BatchAck>(&message.body)) under_way.erase(ack->sequence);
      if (const auto* refused = std::get_if<ring::BatchRefused>(&message.body)) under_way.erase(refused->sequence);
    }
  }

  void stepped(World& world, std::size_t number) override {
    const SimPeer& peer = world.peers()[number];
    if (++steps_ % look_every == 0 && peer.core != nullptr) look(world, peer, false);
  }

  void exited(World& world, std::size_t number, const Exit& exit) override {
    if (!exit.finished) return;
    // What waits for a peer that is down, counts as down here, or ended before this one, may wait still. So may what a
    // process began to fill when an end was agreed already, and what a peer that leaves was handing over then.
    const std::vector<SimPeer>& peers = world.peers();
    const bool others_are_up = std::all_of(peers.begin(), peers.end(), [&](const SimPeer& other) {
      return other.number == number || (other.status == Status::up && world.now() - other.started > lately) ||
             (other.exit && !other.exit->finished);
    });
    const nlohmann::json status = peers[number].core->own_status();
    const bool counts_one_as_down = std::any_of(status["members"].begin(), status["members"].end(),
                                                [](const nlohmann::json& member) { return member["state"] == "down"; });
    const bool one_leaves = std::any_of(peers.begin(), peers.end(), [](const SimPeer& one) { return one.leaving; });
    look(world, peers[number], others_are_up && !counts_one_as_down && !one_leaves && !world.sides_may_end_alone());
  }

  // The sender sorts its batches again.
  void owners_changed(World&, std::size_t peer) override {
    for (auto& [ends, link] : links_)
      if (ends.first == peer) link.under_way.clear();
  }

 private:
  void look(World& world, const SimPeer& peer, bool at_end) {
    Sizes sizes{.settings = peer.core->settings(), .tables = peer.core->tables(), .pages = world.seeds().size()};
    if (sizes.tables.empty()) return;
    std::sort(sizes.tables.begin(), sizes.tables.end(),
              [](const ring::TableSize& one, const ring::TableSize& other) { return one.name < other.name; });
    for (const SimPeer& each : world.peers()) {
      sizes.peers += each.disks;
      sizes.processes += each.generation;
    }
    const WebConfig& web = world.parameters().web;
    sizes.pages += std::size_t{web.hosts} * web.pages_per_host;
    auto rule = rules().begin();
    for (const ring::TableSize& table : sizes.tables) {
      const auto told = [&] {
        return "peer " + std::to_string(peer.number) + " has " + std::to_string(table.entries) + " entries in " +
               std::string(table.name);
      };
      if (rule == rules().end() || rule->first > table.name) return world.fail(name(), told() + ", which has no bound");
      if (rule->first < table.name) break;
      const std::size_t most = rule->second.most(sizes);
      if (table.entries > most) world.fail(name(), told() + ", at most " + std::to_string(most));
      const bool rests =
          rule->second.rest == Rest::empty || (rule->second.rest == Rest::empty_if_all_is_fetched &&
                                               sizes.settings.max_pages == 0 && sizes.settings.max_bytes == 0);
      if (at_end && rests && table.entries > 0) world.fail(name(), told() + " when it ends");
      ++rule;
    }
    if (rule != rules().end()) world.fail(name(), "there is no table " + std::string(rule->first));
  }

  struct Link {
    std::uint64_t generation = 0;
    std::map<ring::BatchKind, std::map<std::uint64_t, Time>> under_way;  // by sequence: when it was last sent
  };
  std::map<std::pair<std::size_t, std::size_t>, Link> links_;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Checker> make_bounded() { return std::make_unique<Bounded>(); }

}  // namespace orbweaver::sim
