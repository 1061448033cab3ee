#include "node/peer/questions.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "node/crawl/outside_json.h"
#include "node/crawl/peer_words.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// A peer that does not answer by then is listed as unreachable.
constexpr Duration gather_time = std::chrono::seconds{2};
// Maximum questions to the whole ring in flight.
constexpr std::size_t max_under_way = 256;
// Of one question, with all copies of it that go to other peers.
constexpr std::size_t max_forwarded_bytes = 8u << 20;

// A receiver would refuse what does not fit into a message.
std::string fitting(std::string text) {
  if (text.size() <= ring::max_text_bytes) return text;
  return json_text({{"error", "the answer has " + std::to_string(text.size()) + " bytes, a message holds " +
                                  std::to_string(ring::max_text_bytes) + "; ask for less at a time"}});
}

}  // namespace

void Questions::answer(const Step& step, const ring::Message& in, const ring::Ask& ask, const ring::ReplyPath& reply,
                       const json& content) const {
  around_.messenger.reply(reply, in.from, ring::Answer{ask.sequence, fitting(json_text(content))}, step.out);
}

void Questions::refuse(const Step& step, const ring::Message& in, const ring::Ask& ask, const ring::ReplyPath& reply,
                       const std::string& cause) const {
  around_.refuse(step, in, cause);
  answer(step, in, ask, reply, {{"error", "the question cannot be read: " + cause}});
}

bool Questions::asks_all(const ring::Ask& ask) const {
  constexpr std::array<std::string_view, 12> verbs = {"events", "history", "hosts",   "status", "settings", "stop",
                                                      "traps",  "urls",    "recrawl", "retry",  "order",    "snapshot"};
  return ask.for_ring && std::find(verbs.begin(), verbs.end(), ask.verb) != verbs.end();
}

// By the beginning of its identity.
Result<ring::PeerId> Questions::member_of(const json& body) const {
  const Result<std::string> digits = text_field(body, "peer");
  if (!digits) return tl::make_unexpected(digits.error());
  std::vector<ring::PeerId> matching;
  for (const auto& [peer, member] : around_.membership.members())
    if (ring::reachable(member) && peer.hex().starts_with(*digits)) matching.push_back(peer);
  if (matching.size() != 1)
    return fail(ErrorCode::invalid_input, std::to_string(matching.size()) + " members that answer have an identity " +
                                              "that begins with '" + digits->substr(0, 64) + "'");
  return matching.front();
}

Result<std::vector<ring::PeerId>> Questions::whom(const ring::Ask& ask, const json& body) const {
  std::vector<ring::PeerId> others;
  if (asks_all(ask)) {
    for (const auto& [peer, member] : around_.membership.members())
      if (ring::reachable(member) && peer != around_.membership.self().id) others.push_back(peer);
  } else if (ask.for_ring && ask.verb == "explain") {
    const Result<std::string> text = text_field(body, "url");
    if (!text) return tl::make_unexpected(text.error());
    // If it is not a URL, this peer can refuse it as well as another.
    if (const Result<CanonicalUrl> url = around_.canonicaliser.parse(*text))
      if (const auto knows = around_.who_knows(*url)) others.push_back(*knows);
  } else if (ask.verb == "leave" && body.contains("peer")) {
    const Result<ring::PeerId> named = member_of(body);
    if (!named) return tl::make_unexpected(named.error());
    if (*named != around_.membership.self().id) others.push_back(*named);
  }
  return others;
}

Result<void> Questions::on_ask(const Step& step, const ring::Message& in, const ring::Ask& ask,
                               const ring::ReplyPath& reply) {
  Result<json> read = parse_outside_json(ask.body.empty() ? "{}" : ask.body);
  if (!read) {
    refuse(step, in, ask, reply, read.error().message);
    return {};
  }
  json body = std::move(*read);
  if (const Result<void> complete = around_.complete(step, ask.verb, body); !complete) {
    answer(step, in, ask, reply, {{"error", complete.error().message}});
    return {};
  }
  const Result<std::vector<ring::PeerId>> others = whom(ask, body);
  if (!others) {
    refuse(step, in, ask, reply, others.error().message);
    return {};
  }
  if (!others->empty() || asks_all(ask)) return ask_others(step, in, ask, reply, std::move(body), *others);
  const Result<json> own = around_.answer_own(step, ask.verb, body);
  if (!own) return tl::make_unexpected(own.error());
  answer(step, in, ask, reply, *own);
  return {};
}

Result<void> Questions::ask_others(const Step& step, const ring::Message& in, const ring::Ask& ask,
                                   const ring::ReplyPath& reply, json body, const std::vector<ring::PeerId>& others) {
  const auto refused = [&](const std::string& cause) -> Result<void> {
    refuse(step, in, ask, reply, cause);
    return {};
  };
  if (under_way_.size() >= max_under_way) return refused("too many questions to the whole ring are in progress");
  // Each member gets the place where it must continue, not the places of the others.
  json common = body;
  common.erase("after");
  const std::string common_text = json_text(common);
  if (common_text.size() > max_forwarded_bytes / std::max<std::size_t>(others.size(), 1))
    return refused("it is too long for a question to " + std::to_string(others.size()) +
                   " peers; ask one of them at a time, with less");
  Gathering gathering{.reply = reply,
                      .sequence = ask.sequence,
                      .verb = ask.verb,
                      .of_one = !asks_all(ask),
                      .deadline = step.now + gather_time};
  if (asks_all(ask)) {
    const Result<json> own = around_.answer_own(step, ask.verb, body);
    if (!own) return tl::make_unexpected(own.error());
    take(gathering, json_text(*own));
  }
  const auto after = body.find("after");
  for (const ring::PeerId& member : others) {
    const std::uint64_t sequence = around_.sequences.next();
    gathering.open.emplace(sequence, member);
    std::string text = common_text;
    if (after != body.end() && after->is_object()) {
      common["after"] = json::object();
      if (const auto place = after->find(member.hex()); place != after->end()) common["after"][member.hex()] = *place;
      text = json_text(common);
    }
    around_.messenger.send(member, ring::Ask{sequence, ask.verb, std::move(text), false}, step.out);
  }
  if (gathering.open.empty()) {
    finish(step, gathering);
  } else {
    under_way_.push_back(std::move(gathering));
  }
  return {};
}

// An answer that cannot be read does not count: at the deadline its peer is listed as silent.
void Questions::on_answer(const Step& step, const ring::Message& in, const ring::Answer& answer) {
  for (auto at = under_way_.begin(); at != under_way_.end(); ++at) {
    const auto asked = at->open.find(answer.sequence);
    if (asked == at->open.end()) continue;
    if (asked->second != in.from) return around_.refuse(step, in, "it answers what another was asked");
    if (const Result<json> read = parse_outside_json(answer.body); !read)
      return around_.refuse(step, in, read.error().message);
    at->open.erase(asked);
    take(*at, answer.body);
    if (at->open.empty()) {
      finish(step, *at);
      under_way_.erase(at);
    }
    return;
  }
}

void Questions::take(Gathering& gathering, std::string text) const {
  std::size_t gathered = 0;
  for (const Gathering& one : under_way_) gathered += one.bytes;
  const std::size_t max_gathered =
      std::max(static_cast<std::size_t>(around_.memory.messages_in / 2), max_gathered_bytes);
  if (gathering.bytes + text.size() > max_gathered_bytes || gathered + text.size() > max_gathered) {
    ++gathering.left_out;
    return;
  }
  gathering.bytes += text.size();
  gathering.answers.push_back(std::move(text));
}

void Questions::tick(const Step& step) {
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    if (step.now < at->deadline) {
      ++at;
      continue;
    }
    finish(step, *at);
    at = under_way_.erase(at);
  }
}

std::optional<Time> Questions::next_deadline() const {
  std::optional<Time> next;
  for (const Gathering& gathering : under_way_) next = std::min(next.value_or(gathering.deadline), gathering.deadline);
  return next;
}

void Questions::finish(const Step& step, Gathering& gathering) const {
  json silent = json::array();
  for (const auto& [sequence, peer] : gathering.open) {
    const ring::Member* member = around_.membership.find(peer);
    silent.push_back({{"id", peer.hex()}, {"address", member == nullptr ? "" : member->address}});
  }
  std::string text;
  if (!gathering.of_one) {
    text = answer_of_all(gathering, std::move(silent));
  } else if (!gathering.answers.empty()) {
    text = std::move(gathering.answers.front());
  } else {
    text = json_text(
        {{"error", gathering.verb == "explain" ? "the owner of this URL does not answer" : "this peer does not answer"},
         {"owner", silent}});
  }
  step.out.push_back(
      ReplyMessage{gathering.reply, around_.messenger.message(ring::Answer{gathering.sequence, fitting(text)}, {})});
}

// The answers were read when they came. They are passed on as text: as a tree, 4 MiB of it would be 100 times larger.
std::string Questions::answer_of_all(const Gathering& gathering, json silent) const {
  json totals = json::object();
  std::string peers;
  for (const std::string& text : gathering.answers) {
    const Result<json> peer = parse_outside_json(text);
    if (!peer) continue;
    if (const auto counts = peer->find("counts"); counts != peer->end() && counts->is_object())
      add_counts(totals, *counts);
    peers += (peers.empty() ? "" : ",") + text;
  }
  for (const auto& [id, member] : around_.membership.members())
    if (member.state == ring::MemberState::down) silent.push_back({{"id", id.hex()}, {"address", member.address}});
  json content = {{"ring", around_.ring.hex()}, {"totals", std::move(totals)}, {"unreachable", std::move(silent)}};
  if (gathering.left_out > 0) content["left_out"] = gathering.left_out;  // more than fits into a message
  std::string text = json_text(content);
  text.insert(text.size() - 1, ",\"peers\":[" + peers + "]");
  return text;
}

}  // namespace orbweaver
