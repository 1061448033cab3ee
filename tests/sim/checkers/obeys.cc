// Operators are obeyed (docs/decisions/0036-orders-of-operators.md): a peer asks no host that it knows to be paused or
// blocked. An order that a command reported as taken by two peers is known to all that are members at the end. Sides
// that may end alone end this check.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Obeys final : public Checker {
 public:
  std::string_view name() const override { return "obeys"; }

  void request_begun(World& world, const Request& request) override {
    const HostOrders& orders = world.peers()[request.peer].core->orders();
    const HostOrder order = orders.of(request.host);
    if (!orders.ring_paused && !order.paused && !order.blocked) return;
    world.fail(name(), "peer " + std::to_string(request.peer) + " asks for " + request.url + ", and knows that " +
                           (orders.ring_paused ? "the crawl" : request.host) + " is " +
                           (order.blocked ? "blocked" : "paused"));
  }

  void ended(World& world) override {
    if (world.sides_may_end_alone()) return;
    std::map<std::string, OperatorOrder> taken;  // by name: the latest
    for (const std::string& body : world.answers()) {
      const auto answer = nlohmann::json::parse(body);
      if (!answer.contains("peers") || answer["peers"].size() < 2) continue;
      for (const auto& peer : answer["peers"])
        if (peer.value("taken", false)) note(*OperatorOrders::read(peer.value("order", "")), taken);
    }
    for (const SimPeer& peer : world.peers()) {
      if (peer.may_be_refused || !peer.exit || !peer.exit->finished) continue;
      auto store = storage::Store::open(*peer.kv);
      if (!store) return world.fail(name(), store.error().message);
      OperatorOrders known;
      known.restore(store->meta("orders")->value_or(""));
      for (const auto& [order, latest] : taken) {
        const auto has = known.all().find(order);
        world.count("order known at the end");
        if (has == known.all().end() && beyond_the_bound(latest, known)) continue;
        if (has == known.all().end() || has->second.stamp() < latest.stamp())
          return world.fail(name(), "peer " + std::to_string(peer.number) + " does not know " +
                                        OperatorOrders::text_of(latest) + " at the end");
      }
    }
  }

 private:
  // Of many visits the latest are kept.
  static bool beyond_the_bound(const OperatorOrder& visit, const OperatorOrders& known) {
    const auto later = std::count_if(known.all().begin(), known.all().end(), [&](const auto& entry) {
      return entry.second.kind() == OperatorOrder::Kind::visit && entry.second.stamp() > visit.stamp();
    });
    return visit.kind() == OperatorOrder::Kind::visit && static_cast<std::size_t>(later) >= OperatorOrders::max_visits;
  }
  static void note(const OperatorOrder& order, std::map<std::string, OperatorOrder>& taken) {
    const auto [at, added] = taken.try_emplace(order.name, order);
    if (!added && at->second.stamp() < order.stamp()) at->second = order;
  }
};

}  // namespace

std::unique_ptr<Checker> make_obeys() { return std::make_unique<Obeys>(); }

}  // namespace orbweaver::sim
