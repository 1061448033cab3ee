// Questions from commands: explain, seed, leave, stop; and status, which peer_status.cc makes. Answered for this peer
// or, by asking the others, for the whole ring.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/crawl/outside_json.h"
#include "node/crawl/peer.h"
#include "node/crawl/peer_words.h"
#include "node/crawl/reason_words.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// What does not answer by then is listed as unreachable.
constexpr Duration gather_time = std::chrono::seconds{2};
// Questions to the whole ring under way at a time.
constexpr std::size_t gatherings_max = 256;
// Of the answers to one of them, in all: they go into one text of a message, with some words around them.
constexpr std::size_t answer_bytes_max = ring::text_bytes_max - 64 * 1024;
// Of one question, with all the copies of it that go to the others.
constexpr std::size_t forwarded_bytes_max = 8u << 20;
// Seeds in one question; and of those that are refused, the first so many are told one by one.
constexpr std::size_t seeds_asked_max = ring::seeds_max;
constexpr std::size_t refused_told_max = 100;
// Of each that is told.
constexpr std::size_t refused_bytes_max = 256;

std::string why(const storage::UrlRecord& record) {
  using storage::Reason;
  const ReasonWords words = words_of(record.reason, record.status);
  const bool redirect = record.status >= 300 && record.status < 400 && record.status != 304;
  switch (record.state) {
    case storage::UrlState::fetched:
      return "fetched; the server answered " + std::to_string(record.status) + (redirect ? ", a redirect" : "") +
             (record.reason == Reason::none
                  ? ""
                  : "; " + words.both() + " (" + std::string(storage::reason_name(record.reason)) + ")");
    case storage::UrlState::queued:
      if (record.attempts > 0)
        return "waits for try " + std::to_string(record.attempts + 1) + "; of the last one: " + words.what;
      return "admitted, waits for its host's turn";
    case storage::UrlState::failed:
      return "given up" + (record.attempts > 1 ? " after " + std::to_string(record.attempts) + " tries" : "") + ": " +
             words.both();
    case storage::UrlState::excluded:
      return words.both();
  }
  return {};
}

// What a message cannot hold its receiver would refuse.
std::string fitting(std::string text) {
  if (text.size() <= ring::text_bytes_max) return text;
  return json_text({{"error", "the answer has " + std::to_string(text.size()) + " bytes, a message holds " +
                                  std::to_string(ring::text_bytes_max) + "; ask for less at a time"}});
}

std::string answer_text(const json& content) { return fitting(json_text(content)); }

}  // namespace

json Peer::explain(const json& body) {
  const Result<std::string> text = text_field(body, "url");
  if (!text) return {{"error", text.error().message}};
  const Result<Url> parsed = Url::parse(*text);
  if (!parsed) return {{"error", parsed.error().message}};
  const Result<CanonicalUrl> canonical = canonicaliser_.from(*parsed);
  if (!canonical) return {{"error", canonical.error().message}};
  const CanonicalUrl& url = *canonical;
  const storage::UrlKey key{partitioner_.host_key(url), url.digest()};
  json answer = {{"url", url.text()},
                 {"partition", key.host.partition},
                 {"owner", id().hex()},
                 {"owner_address", membership_.self().address}};
  answer["canonical_rules"] = canonicaliser_.changes(*parsed);  // what makes "url" differ from what was asked
  const auto record = store_->find(key);
  if (!record) return {{"error", record.error().message}};
  if (!*record) {
    const Scope::Place place = seeds_.scope().place(url);
    const bool possible = place == Scope::Place::in || (place == Scope::Place::beyond && settings_.hops_off_site > 0);
    answer["state"] = possible ? "unknown" : "out of scope";
    answer["why"] = seeds_.scope().explain(url) + (possible ? "; no page that was fetched so far links to it" : "");
    if (const storage::SeenFilter* filter = store_->filter(); possible && filter != nullptr) {
      answer["taken_as_seen"] = filter->settled(key.url);
      if (filter->settled(key.url))
        answer["why"] = seeds_.scope().explain(url) +
                        "; no record of it, but the filter (seen = bloom) takes it as seen: if a page that was fetched "
                        "links to it, it was missed; as a seed it would be fetched";
    }
    if (const auto rule = trap_judge_.suspicion(url, 0); possible && rule) answer["trap"] = trap_rule_name(*rule);
    return answer;
  }
  const storage::UrlRecord& known = **record;
  answer["state"] = bench_.is_issued(key.url) ? "in flight" : storage::state_name(known.state);
  answer["why"] = bench_.is_issued(key.url) ? "is being fetched now" : why(known);
  if (const std::string target = redirects_.target_of(known.url);
      known.state == storage::UrlState::fetched && !target.empty()) {
    answer["redirects_to"] = target;
    answer["why"] = why(known) + " to " + target + ", which is out of scope";
  }
  if (const BenchHost* host = bench_.find(key.host);
      known.state == storage::UrlState::queued && host != nullptr && host->held)
    answer["why"] = "waits until less of its domain or network is under way (max_domain_fetches, max_network_fetches)";
  answer["reason"] = storage::reason_name(known.reason);
  answer["depth"] = known.depth;
  answer["redirects"] = known.redirects;
  answer["attempts"] = known.attempts;
  answer["status"] = known.status;
  if (known.changed != Time{})
    answer[known.state == storage::UrlState::queued ? "not_before" : "when"] = utc(known.changed);
  answer["scope"] = seeds_.scope().explain(url);
  const bool by_page = known.off_site == 0 || known.redirects > 0;
  if (settings_.page_requisites && by_page && !seeds_.scope().contains(url))
    answer["admitted"] = "as a requisite of a page";
  if (known.off_site > 0) answer["hops_off_site"] = known.off_site;
  if (router_.best_first()) answer["score"] = known.score;
  if (known.visit > 0) answer["visit"] = known.visit + 1;
  if (!known.validator.empty()) answer["validator"] = known.validator;
  if (const auto rule = trap_judge_.suspicion(url, known.depth)) answer["trap"] = trap_rule_name(*rule);
  if (const std::string other = mirrors_.mirror_of(url.host()); !other.empty()) answer["mirror_of"] = other;
  return answer;
}

// New seeds widen the scope everywhere before the first of them can be fetched: the word goes out ahead of the URLs, on
// the same connections.
json Peer::seed(Time now, const json& body, Commands& out) {
  json accepted = json::array();
  json refused = json::array();
  std::vector<CanonicalUrl> urls;
  std::vector<std::string> texts;
  const Result<std::span<const json>> items = list_field(body, "urls");
  if (!items) return {{"error", items.error().message}};
  if (items->size() > seeds_asked_max)
    return {{"error", std::to_string(items->size()) + " seeds are more than the " + std::to_string(seeds_asked_max) +
                          " that one question may have; ask with several, as orbweaver seed does"}};
  std::size_t refused_untold = 0;
  std::size_t accepted_untold = 0;
  std::size_t told_bytes = 0;
  for (const json& item : *items) {
    const std::string text = item.is_string() ? item.get<std::string>() : json_text(item);
    Result<CanonicalUrl> url = canonicaliser_.parse(text);
    if (!url && refused.size() >= refused_told_max) {
      ++refused_untold;
      continue;
    }
    if (!url) {
      refused.push_back({{"url", text.substr(0, refused_bytes_max)}, {"why", url.error().message}});
      continue;
    }
    told_bytes += json_text(url->text()).size() + 1;
    if (told_bytes <= answer_bytes_max) {
      accepted.push_back(url->text());
    } else {
      ++accepted_untold;
    }
    texts.push_back(url->text());
    urls.push_back(std::move(*url));
  }
  storage::Commit commit;
  seeds_.add(texts, commit);
  // To as many members as the memory for messages has room for; the others hear of new seeds by their fingerprint.
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size() + sizeof text;
  std::uint64_t room = memory_.messages_out;
  for (const ring::PeerId& member : members_.reachable()) {
    if (member == id()) continue;
    if (bytes > room) break;
    room -= bytes;
    seeds_.send({now, out}, member, texts);
  }
  std::size_t result_pages = 0;
  for (const CanonicalUrl& url : urls) {
    router_.route(url, {}, commit);
    if (seeds_.scope().is_result_page(url)) ++result_pages;
  }
  if (!apply(now, commit, out)) return {{"error", "the store cannot be written"}};
  return {{"accepted", std::move(accepted)},
          {"refused", std::move(refused)},
          {"accepted_untold", accepted_untold},
          {"refused_untold", refused_untold},
          {"result_pages", result_pages}};
}

// Seeds given at the start wait until the ring is as large as its user wants it, so that no URL changes hands at once;
// or until its crawl has begun all the same, or this peer leaves.
void Peer::first_seeds_tick(Time now, Commands& out) {
  if (wait_for_peers_ == 0) return;
  // Those that have left meanwhile, or died, were there too.
  std::size_t seen = 0;
  for (const auto& [peer, member] : membership_.members())
    if (member.state != ring::MemberState::joining && !member.suspect) ++seen;
  const bool newcomer = state_.restarted == Time{};
  if (seen < wait_for_peers_ && !lifecycle_.leaving() && !(newcomer && seeds_.size() > 0)) return;
  storage::Commit waited;
  waited_ = std::max(waited_, std::exchange(wait_for_peers_, 0));
  waited.meta.emplace_back(meta_name::waited, std::to_string(waited_));
  if (!apply(now, waited, out) || first_seeds_.empty()) return;
  std::vector<std::string> seeds = std::exchange(first_seeds_, {});
  // A seed of the ring's is its owner's to admit. Said again after a restart it would be work where the others have
  // found the end.
  std::erase_if(seeds, [this](const std::string& seed) {
    const Result<CanonicalUrl> url = canonicaliser_.parse(seed);
    return url && seeds_.contains(url->text());
  });
  if (seeds.empty()) return;
  for (std::size_t at = 0; at < seeds.size(); at += seeds_asked_max) {
    const auto begin = seeds.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(seeds_asked_max, seeds.size() - at));
    const json answer = seed(now, {{"urls", std::vector<std::string>(begin, end)}}, out);
    for (const json& refused : answer.value("refused", json::array()))  // this peer's own words
      note(out, LogLevel::error, "crawl", "seed refused",
           {{"url", refused.value("url", "")}, {"why", refused.value("why", "")}});
  }
}

// A peer that is down is gone for good, by a person's word. Should it live all the same, it refutes that.
json Peer::forget(const json& body, Time now) {
  const Result<std::string> digits = text_field(body, "id");
  if (!digits) return {{"error", digits.error().message}};
  std::vector<ring::Member> matching;
  for (const auto& [peer, member] : membership_.members())
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
  membership_.merge({gone}, now);
  return {{"forgotten", gone.id.hex()}};
}

// Partitions whose holder is gone and that nobody has taken over yet, as far as this peer knows.
std::uint64_t Peer::orphaned() const {
  const std::vector<ring::PartitionTenure> tenures = keeper_.tenures().all();
  return static_cast<std::uint64_t>(std::count_if(tenures.begin(), tenures.end(), [this](const auto& row) {
    const ring::Member* holder = membership_.find(row.tenure.holder);
    return holder == nullptr || !ring::reachable(*holder);
  }));
}

// Pages under way whose records this peer holds and counts as queued: not those of partitions that it lost meanwhile,
// nor those of which another peer's outcome has come.
std::uint64_t Peer::held_in_flight() const {
  return static_cast<std::uint64_t>(std::count_if(jobs_.begin(), jobs_.end(), [this](const auto& entry) {
    const FetchJob& job = entry.second.job;
    if (job.kind != FetchKind::page || !keeper_.holds(job.host.partition)) return false;
    const auto record = store_->find(job.queued.key);
    return record && *record && (*record)->state == storage::UrlState::queued;
  }));
}

json Peer::answer_own(Time now, const std::string& verb, const json& body, Commands& out) {
  if (verb == "status") return own_status();
  if (verb == "explain") return explain(body);
  if (verb == "seed") return seed(now, body, out);
  if (verb == "traps") return traps(now, body, out);
  if (verb == "recrawl") return recrawl(now, body, out);
  if (verb == "forget") return forget(body, now);
  if (verb == "leave") {
    leave(now);
    return {{"leaving", id().hex()}};
  }
  if (verb == "stop") {
    lifecycle_.stop();
    return {{"stopping", id().hex()}};
  }
  return {{"error", "unknown question '" + verb.substr(0, ring::verb_bytes_max) +
                        "'; this peer knows status, explain, seed, recrawl, traps, forget, leave, stop"}};
}

void Peer::on_ask(Time now, const ring::Message& in, const ring::Ask& ask, const ring::ReplyPath& reply,
                  Commands& out) {
  const auto answer = [&](const json& content) {
    messenger_.reply(reply, in.from, ring::Answer{ask.sequence, answer_text(content)}, out);
  };
  const auto refuse = [&](const std::string& cause) {
    refuse_message(in, cause, out);
    answer({{"error", "the question cannot be read: " + cause}});
  };
  Result<json> read = parse_outside_json(ask.body.empty() ? "{}" : ask.body);
  if (!read) return refuse(read.error().message);
  json body = std::move(*read);
  Gathering gathering;
  gathering.reply = reply;
  gathering.sequence = ask.sequence;
  gathering.verb = ask.verb;
  gathering.deadline = now + gather_time;
  // Told to all as one moment, whatever their clocks say.
  if (ask.verb == "recrawl" && !body.contains("before_us")) {
    const auto age = number_field(body, "older_than_us", 0, 0, now.time_since_epoch().count());
    if (!age) return refuse(age.error().message);
    body["before_us"] = (now - Duration(*age)).time_since_epoch().count();
  }
  std::vector<ring::PeerId> whom;
  const bool asks_all =
      ask.for_ring && (ask.verb == "status" || ask.verb == "stop" || ask.verb == "traps" || ask.verb == "recrawl");
  if (asks_all) {
    for (const ring::PeerId& member : members_.reachable())
      if (member != id()) whom.push_back(member);
  } else if (ask.for_ring && ask.verb == "explain") {
    const Result<std::string> text = text_field(body, "url");
    if (!text) return refuse(text.error().message);
    const Result<CanonicalUrl> url = canonicaliser_.parse(*text);
    if (!url) return answer({{"error", url.error().message}});
    if (!view_.empty()) {
      // Who holds it knows best; with nobody there, who owns it.
      const ring::Partition partition = partitioner_.partition(*url);
      const ring::PeerId& holder = keeper_.tenures().of(partition).holder;
      const ring::Member* member = membership_.find(holder);
      const ring::PeerId& owner = member != nullptr && ring::reachable(*member) ? holder : view_.owner(partition);
      if (owner != id()) whom.push_back(owner);
    }
  }
  if (whom.empty() && !asks_all) return answer(answer_own(now, ask.verb, body, out));
  if (gatherings_.size() >= gatherings_max) return refuse("too many questions to the whole ring are under way");
  // Each member hears where it is to go on, not where the others are.
  json common = body;
  common.erase("after");
  const std::string common_text = json_text(common);
  if (common_text.size() > forwarded_bytes_max / std::max<std::size_t>(whom.size(), 1))
    return refuse("it is too long for a question to " + std::to_string(whom.size()) +
                  " peers; ask one of them at a time, with less");
  if (asks_all) take_answer(gathering, json_text(answer_own(now, ask.verb, body, out)));
  const auto after = body.find("after");
  for (const ring::PeerId& member : whom) {
    gathering.open.emplace(next_ask_, member);
    std::string text = common_text;
    if (after != body.end() && after->is_object()) {
      common["after"] = json::object();
      if (const auto place = after->find(member.hex()); place != after->end()) common["after"][member.hex()] = *place;
      text = json_text(common);
    }
    messenger_.send(member, ring::Ask{next_ask_++, ask.verb, std::move(text), false}, out);
  }
  if (gathering.open.empty()) return finish_gathering(gathering, out);
  gatherings_.push_back(std::move(gathering));
}

// One that cannot be read is none: at the deadline its peer is listed as silent.
void Peer::on_answer(const ring::Message& in, const ring::Answer& answer, Commands& out) {
  for (auto at = gatherings_.begin(); at != gatherings_.end(); ++at) {
    const auto asked = at->open.find(answer.sequence);
    if (asked == at->open.end()) continue;
    if (asked->second != in.from) return refuse_message(in, "it answers what another was asked", out);
    if (const Result<json> read = parse_outside_json(answer.body); !read)
      return refuse_message(in, read.error().message, out);
    at->open.erase(asked);
    take_answer(*at, answer.body);
    if (at->open.empty()) {
      finish_gathering(*at, out);
      gatherings_.erase(at);
    }
    return;
  }
}

void Peer::take_answer(Gathering& gathering, std::string text) {
  std::size_t held = 0;
  for (const Gathering& one : gatherings_) held += one.bytes;
  const std::size_t held_max = std::max(static_cast<std::size_t>(memory_.messages_in / 2), answer_bytes_max);
  if (gathering.bytes + text.size() > answer_bytes_max || held + text.size() > held_max) {
    ++gathering.left_out;
    return;
  }
  gathering.bytes += text.size();
  gathering.answers.push_back(std::move(text));
}

void Peer::gather_tick(Time now, Commands& out) {
  for (auto at = gatherings_.begin(); at != gatherings_.end();) {
    if (now < at->deadline) {
      ++at;
      continue;
    }
    finish_gathering(*at, out);
    at = gatherings_.erase(at);
  }
}

void Peer::finish_gathering(Gathering& gathering, Commands& out) {
  json silent = json::array();
  for (const auto& [sequence, peer] : gathering.open) {
    const ring::Member* member = membership_.find(peer);
    silent.push_back({{"id", peer.hex()}, {"address", member == nullptr ? "" : member->address}});
  }
  const auto finish = [&](std::string text) {
    out.push_back(
        ReplyMessage{gathering.reply, messenger_.message(ring::Answer{gathering.sequence, std::move(text)}, {})});
  };
  if (gathering.verb == "explain") {
    if (!gathering.answers.empty()) return finish(std::move(gathering.answers.front()));
    return finish(answer_text({{"error", "the owner of this URL does not answer"}, {"owner", silent}}));
  }
  // The answers were read when they came. They go on as they are: of 4 MiB of them a tree would be 100 times that.
  json totals = json::object();
  std::string peers;
  for (const std::string& text : gathering.answers) {
    const Result<json> peer = parse_outside_json(text);
    if (!peer) continue;
    if (const auto counts = peer->find("counts"); counts != peer->end() && counts->is_object())
      add_counts(totals, *counts);
    peers += (peers.empty() ? "" : ",") + text;
  }
  for (const auto& [id, member] : membership_.members())
    if (member.state == ring::MemberState::down) silent.push_back({{"id", id.hex()}, {"address", member.address}});
  json content = {{"ring", state_.ring.hex()}, {"totals", std::move(totals)}, {"unreachable", std::move(silent)}};
  if (gathering.left_out > 0) content["left_out"] = gathering.left_out;  // more than a message can hold
  std::string text = json_text(content);
  text.insert(text.size() - 1, ",\"peers\":[" + peers + "]");
  finish(fitting(std::move(text)));
}

}  // namespace orbweaver
