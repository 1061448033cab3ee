// What commands ask of peers, and what peers tell of themselves.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/sim/world.h"

namespace orbweaver::sim {

using nlohmann::json;

namespace {

// A recrawl with what = match is for URLs with this in them.
constexpr std::string_view again_match = "p1";

// All that differs from one version of the product to the next.
void drop_versions(json& value) {
  if (value.is_object()) value.erase("version");
  for (json& part : value)
    if (part.is_structured()) drop_versions(part);
}

}  // namespace

// The end of the crawl and a question that gives it more to do may cross each other on the way; a peer that has work
// has not said that it has none.
const SimPeer* World::peer_with_work(std::size_t first) const {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const SimPeer& peer = peers_[(first + i) % peers_.size()];
    if (!peer.paused && is_member(peer) && peer.store->held().queued > 0) return &peer;
  }
  return nullptr;
}

std::string World::body_of(const Deed& deed) const {
  json body = json::object();
  if (deed.kind == Deed::Kind::recrawl) {
    body["older_than_us"] = deed.by.count();
    if (deed.what == "host") body["host"] = web_.host_name(deed.host);
    if (deed.what == "match") body["match"] = again_match;
  } else if (deed.what == "explain") {
    body["url"] = web_.page_url(deed.host, deed.page);
  } else if (deed.what == "explain_unknown") {
    body["url"] = web_.unlinked_url(deed.host, deed.page);
  } else if (deed.what == "explain_nothing") {
    body["url"] = "mailto:nobody";
  } else if (deed.what == "seed") {
    body["urls"] = {web_.unlinked_url(deed.host, deed.page), "gopher://elsewhere.example/"};
  } else if (deed.what == "readmit") {
    body["readmit"] = true;
    if (deed.page % 2 == 0) body["host"] = web_.host_name(deed.host);
  } else if (deed.what == "forget") {
    body["id"] = peers_[deed.peer].core == nullptr ? "" : peers_[deed.peer].core->id().hex();
  } else if (deed.what == "unreadable") {
    return "{\"url\": [";
  }
  return body.dump();
}

void World::put_question(const Deed& deed) {
  const SimPeer& peer = *peer_with_work(deed.peer);
  const std::size_t answers = answers_.size();
  if (deed.kind == Deed::Kind::recrawl) {
    // Peers whose clocks are ahead of the asked one's take what they fetch now for later than it is, and those whose
    // clocks are behind for earlier.
    Duration ahead{};
    for (const SimPeer& other : peers_) ahead = std::max(ahead, peer.skew - other.skew);
    recrawls_.push_back({now_ - deed.by + ahead, deed});
    return ask(peer.number, "recrawl", body_of(deed));
  }
  const std::string verb = deed.what.starts_with("explain") ? "explain" : deed.what == "readmit" ? "traps" : deed.what;
  ask(peer.number, verb, body_of(deed));
  // What the peer has accepted is the ring's to crawl.
  if (deed.what != "seed" || answers_.size() == answers) return;
  const json answer = json::parse(answers_.back());
  for (const json& url : answer.value("accepted", json::array())) add_seed(url.get<std::string>());
}

void World::note_answer(const std::string& body) {
  json answer = json::parse(body);
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
  return static_cast<std::uint32_t>(std::count_if(recrawls_.begin(), recrawls_.end(), [&](const SimRecrawl& recrawl) {
    if (web_.listed(url)) return true;  // its sitemap, visited again, may say that it has changed since
    if (first >= recrawl.before) return false;
    if (recrawl.deed.what == "host") return host_in(url) == web_.host_name(recrawl.deed.host);
    return recrawl.deed.what != "match" || url.find(again_match) != std::string::npos;
  }));
}

bool World::may_be_given_up(const std::string& url) const {
  return std::any_of(peers_.begin(), peers_.end(), [&](const SimPeer& peer) {
    const auto crashes = crashes_at_.find({peer.number, url});
    return crashes != crashes_at_.end() && crashes->second >= 2;
  });
}

}  // namespace orbweaver::sim
