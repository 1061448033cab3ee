// This peer's own answers to questions (questions.h): seed, forget, leave, stop; and what other parts answer.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/crawl/outside_json.h"
#include "node/crawl/peer.h"
#include "node/crawl/peer_words.h"
#include "node/crawl/reason_words.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// Seeds in one question; and of those that are refused, the first so many are told one by one.
constexpr std::size_t seeds_asked_max = ring::seeds_max;
constexpr std::size_t refused_told_max = 100;
// Of the accepted ones that are told, in all.
constexpr std::size_t told_bytes_max = ring::text_bytes_max - 64 * 1024;
// Of each that is told.
constexpr std::size_t refused_bytes_max = 256;

}  // namespace

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
    if (told_bytes <= told_bytes_max) {
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
  for (const ring::PeerId& member : members_.others()) {
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
  if (verb == "explain") return explanation_.answer(body);
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

// The member that knows most of a URL: who holds it; with nobody there, who owns it. Nothing: this peer.
std::optional<ring::PeerId> Peer::who_knows(const CanonicalUrl& url) {
  if (view_.empty()) return std::nullopt;
  const ring::Partition partition = partitioner_.partition(url);
  const ring::PeerId& holder = keeper_.tenures().of(partition).holder;
  const ring::Member* member = membership_.find(holder);
  const ring::PeerId& owner = member != nullptr && ring::reachable(*member) ? holder : view_.owner(partition);
  return owner == id() ? std::nullopt : std::optional(owner);
}

}  // namespace orbweaver
