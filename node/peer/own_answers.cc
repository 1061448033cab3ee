#include "node/peer/own_answers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "node/config/settings_table.h"
#include "node/crawl/outside_json.h"
#include "node/crawl/peer_words.h"
#include "node/peer/order_request.h"
#include "node/peer/questions.h"
#include "node/try.h"

namespace orbweaver {

using nlohmann::json;

namespace {

constexpr std::size_t event_bytes = 2048;  // of one, at most
constexpr std::uint64_t max_number_step = std::uint64_t{1} << 32;
constexpr std::string_view ending_words =
    "the crawl is ending; ask again in a moment, or when the ring has been started again";

}  // namespace

OwnAnswers::OwnAnswers(Around around)
    : around_(around),
      explanation_({.settings = around.state.settings,
                    .canonicaliser = around.state.canonicaliser,
                    .partitioner = around.state.partitioner,
                    .store = *around.state.store,
                    .seeds = around.directives.seeds(),
                    .bench = around.records.bench,
                    .router = around.links.router,
                    .redirects = around.links.redirects,
                    .traps = around.verdicts.traps,
                    .mirrors = around.verdicts.mirrors,
                    .membership = around.members.membership()}),
      trap_report_(*around.state.store, around.state.partitioner, around.verdicts.traps, around.verdicts.mirrors,
                   around.records.replication.partition_manager, around.records.writer),
      url_report_(*around.state.store, around.state.partitioner, around.records.replication.partition_manager),
      host_report_(around.records.bench, around.state.sites) {}

Result<json> OwnAnswers::answer(const Step& step, const std::string& verb, const json& body) {
  if (verb == "status") return around_.status.status(flag_field(body, "brief").value_or(false));
  // The members have agreed to the end, or are about to: what is accepted now would be left behind.
  const bool new_work = verb == "seed" || (verb == "traps" && body.contains("readmit"));
  if (new_work && (around_.ends.crawl.closed() || around_.lifecycle.ending())) return json{{"error", ending_words}};
  if (verb == "explain") return explanation_.answer(body);
  if (verb == "seed") return around_.intake.answer(step, body);
  if (verb == "traps") return traps(step, body);
  if (verb == "urls") return urls(body);
  if (verb == "hosts") return hosts(step.now, body);
  if (verb == "events") return events(body);
  if (verb == "history") return history();
  if (verb == "settings") return settings();
  if (verb == "order" || verb == "recrawl" || verb == "retry") return order(step, body);
  if (verb == "orders") return orders();
  if (verb == "forget") return forget(step, body);
  if (verb == "snapshot") return snapshot(step, body);
  if (verb == "leave") {
    around_.ends.process.leave(step.now);
    return json{{"leaving", around_.state.id.hex()}};
  }
  if (verb == "stop") {
    around_.lifecycle.stop();
    return json{{"stopping", around_.state.id.hex()}};
  }
  return json{{"error", "unknown question '" + verb.substr(0, ring::max_verb_bytes) +
                            "'; this peer knows status, settings, explain, urls, hosts, events, history, seed, order, "
                            "orders, recrawl, retry, "
                            "traps, forget, snapshot, leave, stop"}};
}

// As setting_text() writes them. Those that may hold a password say only that they are set.
json OwnAnswers::settings() const {
  json values = json::object();
  for (const SettingRow& row : setting_rows()) {
    std::string text = setting_text(around_.state.settings, row.name);
    const bool secret = row.name == "site_headers" || row.name == "notify_url" || row.name == "notify_command" ||
                        (row.name == "proxy" && text.find('@') != std::string::npos);
    if (!secret) values[row.name] = std::move(text);
    if (secret && !text.empty()) values[row.name] = nullptr;
  }
  return {{"id", around_.state.id.hex()},
          {"address", around_.members.membership().self().address},
          {"settings", std::move(values)}};
}

// The records that a filter takes (url_report.h). The members' answers go into one message.
json OwnAnswers::urls(const json& body) const {
  const std::size_t peers = std::max<std::size_t>(around_.members.reachable().size(), 1);
  json answer = url_report_.answer(around_.state.id.hex(), body, max_gathered_bytes / peers);
  answer["id"] = around_.state.id.hex();
  answer["address"] = around_.members.membership().self().address;
  return answer;
}

// What has happened (event_log.h): {"after": {`self`: number}} goes on where an answer ended ("last").
json OwnAnswers::events(const json& body) const {
  const std::string self = around_.state.id.hex();
  const json places = body.value("after", json::object());
  const auto after = number_field(places.is_object() ? places : json::object(), self, 0, 0);
  if (!after) return {{"error", after.error().message}};
  // Another process of this peer has counted further.
  const auto seen = static_cast<std::uint64_t>(*after);
  const std::uint64_t from = seen > around_.events.last() ? 0 : seen;
  const std::size_t peers = std::max<std::size_t>(around_.members.reachable().size(), 1);
  json events = around_.events.after(from, std::max<std::size_t>(max_gathered_bytes / peers / event_bytes, 1));
  const std::uint64_t last = events.empty() ? around_.events.last() : events.back()["number"].get<std::uint64_t>();
  return {{"id", self},
          {"address", around_.members.membership().self().address},
          {"last", last},
          {"events", std::move(events)}};
}

// How the crawl went (history.h); a large ring says less of each peer.
json OwnAnswers::history() const {
  constexpr std::size_t interval_bytes = 128;
  const std::size_t peers = std::max<std::size_t>(around_.members.reachable().size(), 1);
  json answer = around_.history.answer(std::max<std::size_t>(max_gathered_bytes / peers / interval_bytes, 2));
  answer["id"] = around_.state.id.hex();
  answer["address"] = around_.members.membership().self().address;
  return answer;
}

// The hosts in its memory (host_report.h).
json OwnAnswers::hosts(Time now, const json& body) const {
  const std::size_t peers = std::max<std::size_t>(around_.members.reachable().size(), 1);
  json answer = host_report_.answer(now, body, max_gathered_bytes / peers);
  answer["id"] = around_.state.id.hex();
  answer["address"] = around_.members.membership().self().address;
  return answer;
}

// What the rules have excluded (trap_report.h).
Result<json> OwnAnswers::traps(const Step& step, const json& body) {
  Result<json> answer = trap_report_.answer(step, around_.state.id.hex(), body);
  if (!answer || answer->contains("error")) return answer;
  (*answer)["id"] = around_.state.id.hex();
  (*answer)["address"] = around_.members.membership().self().address;
  return answer;
}

Result<void> OwnAnswers::complete(const Step& step, const std::string& verb, json& body) const {
  if ((verb != "order" && verb != "recrawl" && verb != "retry") || body.contains("order")) return {};
  const Result<OperatorOrder> order = read_order_request(
      verb, body, {around_.state.canonicaliser, around_.directives.orders(), around_.state.id, step.now});
  if (!order) return tl::make_unexpected(order.error());
  body = json{{"order", OperatorOrders::text_of(*order)}};
  return {};
}

// An order that is complete. It is on the disk before it is answered, and a walk (recrawl_walk.h) has begun.
Result<json> OwnAnswers::order(const Step& step, const json& body) {
  const auto text = text_field(body, "order");
  if (!text) return json{{"error", text.error().message}};
  Result<OperatorOrder> order = OperatorOrders::read(*text);
  if (!order) return json{{"error", order.error().message}};
  const bool visit = order->kind() == OperatorOrder::Kind::visit;
  const OperatorOrders& orders = around_.directives.orders();
  const std::string name = order->name;
  if (around_.lifecycle.stopping()) return json{{"error", "this peer is stopping"}};
  if (visit && (around_.ends.crawl.closed() || around_.lifecycle.ending())) return json{{"error", ending_words}};
  if (visit && !orders.contains(name) && around_.verdicts.walk.full()) return json{{"error", RecrawlWalk::full_words}};
  if (!orders.has_room_for(*order)) return json{{"error", OperatorOrders::full_words}};
  // Such a number would be the last.
  if (order->number > orders.next_number() + max_number_step)
    return json{{"error", "the order's number is too far above those that this peer knows"}};
  const OperatorOrder wanted = *order;
  const Result<bool> news = around_.directives.learn(step, {std::move(*order)});
  if (!news) return tl::make_unexpected(news.error());
  if (visit && around_.gate.may_queue_again()) ORBWEAVER_TRY(around_.verdicts.walk.walk_on(step));
  const auto known = orders.all().find(name);
  return json{{"id", around_.state.id.hex()},
              {"address", around_.members.membership().self().address},
              {"order", *text},
              {"taken", known != orders.all().end() && known->second == wanted}};
}

json OwnAnswers::orders() const {
  json rows = json::array();
  for (const auto& [name, order] : around_.directives.orders().all())
    rows.push_back({{"name", name},
                    {"value", order.value},
                    {"given", utc(order.given)},
                    {"peer", order.peer.hex()},
                    {"number", order.number}});
  return {{"id", around_.state.id.hex()},
          {"address", around_.members.membership().self().address},
          {"orders", std::move(rows)}};
}

// One part of a snapshot of the ring (snapshot_desk.h).
json OwnAnswers::snapshot(const Step& step, const json& body) {
  json answer = around_.lifecycle.stopping() || around_.lifecycle.ending() ? json{{"error", "this peer is stopping"}}
                                                                           : around_.snapshots.answer(step, body);
  answer["id"] = around_.state.id.hex();
  answer["address"] = around_.members.membership().self().address;
  return answer;
}

// A person declares that a peer that is down is gone for good. If it is alive anyway, it refutes that.
json OwnAnswers::forget(const Step& step, const json& body) {
  const Result<std::string> digits = text_field(body, "id");
  if (!digits) return {{"error", digits.error().message}};
  ring::Membership& membership = around_.members.membership();
  std::vector<ring::Member> matching;
  for (const auto& [peer, member] : membership.members())
    if (!digits->empty() && peer.hex().starts_with(*digits)) matching.push_back(member);
  if (matching.size() != 1)
    return {{"error", matching.empty() ? "no member's identity begins with '" + *digits + "'"
                                       : "the identities of " + std::to_string(matching.size()) +
                                             " members begin with '" + *digits + "'; give more digits"}};
  ring::Member& gone = matching.front();
  if (gone.state != ring::MemberState::down)
    return {{"error", "peer " + gone.id.brief() + " is " + std::string(member_state_name(gone)) +
                          ", not down; let it leave with: orbweaver leave --peer " + gone.address}};
  gone.state = ring::MemberState::left;
  membership.merge({gone}, step.now);
  return {{"forgotten", gone.id.hex()}};
}

std::optional<ring::PeerId> OwnAnswers::who_knows(const CanonicalUrl& url) const {
  const View& view = around_.members.view();
  if (view.empty()) return std::nullopt;
  const ring::Partition partition = around_.state.partitioner.partition(url);
  const ring::PeerId& holder = around_.records.replication.partition_manager.tenures().of(partition).holder;
  const ring::Member* member = around_.members.membership().find(holder);
  const ring::PeerId& owner = member != nullptr && ring::reachable(*member) ? holder : view.owner(partition);
  return owner == around_.state.id ? std::nullopt : std::optional(owner);
}

}  // namespace orbweaver
