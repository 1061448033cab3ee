// Questions of commands to peers, and the status that peers report.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/sim/world.h"

namespace orbweaver::sim {

using nlohmann::json;

namespace {

// A recrawl with what = match is for URLs that contain this.
constexpr std::string_view again_match = "p1";
// Of an order that gives a host another delay: longer than all delays that are drawn.
constexpr std::chrono::seconds longer_delay{3};
constexpr std::chrono::seconds look_for_orders{1};

// Removes the only parts that differ between versions of the product.
void drop_versions(json& value) {
  if (value.is_object()) value.erase("version");
  for (json& part : value)
    if (part.is_structured()) drop_versions(part);
}

}  // namespace

// The end of the crawl and a question that adds work may cross on the way. A peer that has work has not yet agreed to
// the end.
const SimPeer* World::peer_with_work(std::size_t first) const {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const SimPeer& peer = peers_[(first + i) % peers_.size()];
    if (!peer.paused && is_member(peer) && peer.store->held().queued > 0) return &peer;
  }
  return nullptr;
}

std::string World::body_of(const Fault& fault) const {
  json body = json::object();
  if (fault.kind == Fault::Kind::recrawl) {
    body["older_than_us"] = fault.by.count();
    if (fault.what == "host") body["host"] = web_.host_name(fault.host);
    if (fault.what == "match") body["match"] = again_match;
  } else if (fault.what == "explain") {
    body["url"] = web_.page_url(fault.host, fault.page);
  } else if (fault.what == "explain_unknown") {
    body["url"] = web_.unlinked_url(fault.host, fault.page);
  } else if (fault.what == "explain_nothing") {
    body["url"] = "mailto:nobody";
  } else if (fault.what == "seed" || fault.kind == Fault::Kind::late_seed) {
    body["urls"] = {web_.unlinked_url(fault.host, fault.page), "gopher://elsewhere.example/"};
  } else if (fault.what == "readmit") {
    body["readmit"] = true;
    if (fault.page % 2 == 0) body["host"] = web_.host_name(fault.host);
  } else if (fault.what == "forget") {
    body["id"] = peers_[fault.peer].core == nullptr ? "" : peers_[fault.peer].core->id().hex();
  } else if (fault.what == "unreadable") {
    return "{\"url\": [";
  }
  return body.dump();
}

// The state of the member at this address, as that peer has it; "": it knows none.
std::string World::state_of(const SimPeer& member, const SimPeer& known_to) {
  const json status = known_to.core->own_status();
  for (const json& one : status["members"])
    if (one["address"] == member.address) return one["state"];
  return "";
}

void World::put_question(const Fault& fault) {
  const SimPeer& peer = *peer_with_work(fault.peer);
  if (fault.what == "forget") {
    forgot_ = true;
    const SimPeer& other = peers_[fault.peer];
    forgot_one_that_is_up_ = forgot_one_that_is_up_ || (other.core != nullptr && state_of(other, peer) == "down");
  }
  if (fault.kind == Fault::Kind::recrawl) {
    // Peers whose clocks are ahead of the asked peer's date their present fetches later than it does, and those whose
    // clocks are behind date them earlier.
    Duration ahead{};
    for (const SimPeer& other : peers_) ahead = std::max(ahead, peer.skew - other.skew);
    recrawls_.push_back({now_ - fault.by + ahead, ahead > Duration{}, fault});
    return ask(peer.number, "recrawl", body_of(fault));
  }
  const std::string verb = fault.what.starts_with("explain") ? "explain"
                           : fault.what == "readmit"         ? "traps"
                                                             : fault.what;
  ask(peer.number, verb, body_of(fault));
}

namespace {

json order_of(const Fault& fault, const std::string& host, bool taken_back) {
  json body = {{"kind", fault.what == "pause_host" ? "pause" : fault.what}, {"value", taken_back ? "" : "yes"}};
  if (fault.what != "pause") body["host"] = host;
  if (fault.what == "delay" && !taken_back) body["value"] = std::to_string(Duration(longer_delay).count());
  return body;
}

}  // namespace

void World::put_order(const Fault& fault) {
  const SimPeer& peer = *peer_with_work(fault.peer);
  schedule(now_ + fault.down, [this, fault] { take_back(fault); });
  ask(peer.number, "order", order_of(fault, web_.host_name(fault.host), false).dump());
}

// The peer acts by the order.
bool World::obeyed_by(const SimPeer& peer, const Fault& order) const {
  const HostOrders& orders = peer.core->orders();
  if (order.what == "pause") return orders.ring_paused;
  const HostOrder host = orders.of(web_.host_name(order.host));
  return order.what == "pause_host" ? host.paused : order.what == "block" ? host.blocked : host.delay.has_value();
}

// It has URLs that the block has excluded.
bool World::excludes_for(const SimPeer& peer, const Fault& order) const {
  if (order.what != "block" || peer.store->counts().excluded == 0) return false;
  for (const std::uint16_t partition : peer.store->partitions()) {
    const auto records = peer.store->scan(partition, nullptr, 1'000'000);
    if (records && std::any_of(records->begin(), records->end(), [](const storage::Merge& merge) {
          return merge.record.reason == storage::Reason::operator_block;
        }))
      return true;
  }
  return false;
}

// As an operator who looks whether all have understood: one of them may have been cut off, or down.
void World::take_back(const Fault& fault) {
  if (ending_ || !failures_.empty()) return;
  schedule(now_ + look_for_orders, [this, fault] { take_back(fault); });
  const std::string host = web_.host_name(fault.host);
  const auto up = [](const SimPeer& peer) {
    return peer.status == Status::up && !peer.paused && peer.core->has_ring();
  };
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const SimPeer& peer = peers_[(fault.peer + i) % peers_.size()];
    if (up(peer) && obeyed_by(peer, fault)) return ask(peer.number, "order", order_of(fault, host, true).dump());
  }
  const json again = {{"states", {"excluded"}}, {"reason", "operator"}, {"host", host}};
  for (const SimPeer& peer : peers_)
    if (up(peer) && excludes_for(peer, fault)) return ask(peer.number, "retry", again.dump());
}

bool World::any_work() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const SimPeer& peer) {
    return !peer.requests.empty() || peer.counts.queued + peer.counts.outbox > 0;
  });
}

void World::count_to_late_seed(const ring::Message& message) {
  if (late_seeds_.empty() || any_work()) return;
  for (auto late = late_seeds_.begin(); late != late_seeds_.end();) {
    if (ring::type_name(message.body) == late->what && late->sends > 0) --late->sends;
    if (late->sends > 0) {
      ++late;
      continue;
    }
    schedule(now_ + late->by, [this, fault = *late] { seed_late(fault); });
    late = late_seeds_.erase(late);
  }
}

void World::seed_late(const Fault& fault) {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const SimPeer& peer = peers_[(fault.peer + i) % peers_.size()];
    if (peer.status != Status::up || peer.paused) continue;
    const bool waits = is_busy(peer);
    const std::size_t seeds = seeds_.size();
    ask(peer.number, "seed", body_of(fault));
    if (!waits) ++stats_.faults[seeds_.size() > seeds ? "late_seed" : "late_seed refused"];
    return;
  }
}

void World::note_answer(const std::string& body) {
  json answer = json::parse(body);
  // The ring must crawl all URLs that the peer has accepted.
  for (const json& url : answer.value("accepted", json::array())) add_seed(url.get<std::string>());
  drop_versions(answer);
  trace_.mix_in(answer.dump());
  answers_.push_back(body);
}

void World::mix_in_status(const SimPeer& peer) {
  json status = peer.core->own_status();
  drop_versions(status);
  trace_.mix_in(status.dump());
  for (const auto& [name, value] : peer.core->metrics()) trace_.mix_in(name + "=" + std::to_string(value));
}

std::uint32_t World::visits_again(const std::string& url, Time first) const {
  const auto concerns = [&](const SimRecrawl& recrawl) {
    if (web_.listed(url)) return true;  // its sitemap, visited again, may say that the page has changed
    if (first >= recrawl.before) return false;
    if (recrawl.fault.what == "host") return host_in(url) == web_.host_name(recrawl.fault.host);
    return recrawl.fault.what != "match" || url.find(again_match) != std::string::npos;
  };
  std::uint32_t visits = 0;
  for (const SimRecrawl& recrawl : recrawls_)
    if (concerns(recrawl)) visits += recrawl.ahead ? 2 : 1;
  return visits;
}

bool World::visits_again(const Request& request) const {
  const Result<CanonicalUrl> page = CanonicalUrl::parse(base_of(request.url));
  const SimPeer& peer = peers_[request.peer];
  if (!page || !peer.store) return true;
  const auto record = peer.store->find(key_of(*page));
  return !record || !*record || (*record)->visit > 0;
}

bool World::may_be_given_up(const std::string& url) const {
  return std::any_of(peers_.begin(), peers_.end(), [&](const SimPeer& peer) {
    const auto crashes = crashes_at_.find({peer.number, url});
    return crashes != crashes_at_.end() && crashes->second >= 2;
  });
}

}  // namespace orbweaver::sim
