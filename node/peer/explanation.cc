#include "node/peer/explanation.h"

#include <nlohmann/json.hpp>

#include "node/crawl/outside_json.h"
#include "node/crawl/peer_words.h"
#include "node/peer/reason_words.h"

namespace orbweaver {

using nlohmann::json;

namespace {

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

}  // namespace

json Explanation::answer(const json& body) const {
  const Result<std::string> text = text_field(body, "url");
  if (!text) return {{"error", text.error().message}};
  const Result<Url> parsed = Url::parse(*text);
  if (!parsed) return {{"error", parsed.error().message}};
  const Result<CanonicalUrl> url = around_.canonicaliser.from(*parsed);
  if (!url) return {{"error", url.error().message}};
  const storage::UrlKey key{around_.partitioner.host_key(*url), url->digest()};
  json answer = {{"url", url->text()},
                 {"partition", key.host.partition},
                 {"owner", around_.membership.self().id.hex()},
                 {"owner_address", around_.membership.self().address}};
  answer["canonical_rules"] = around_.canonicaliser.changes(*parsed);  // what makes "url" differ from what was asked
  const auto record = around_.store.find(key);
  if (!record) return {{"error", record.error().message}};
  if (*record) {
    add_known(answer, *url, key, **record);
  } else {
    add_unknown(answer, *url);
  }
  return answer;
}

void Explanation::add_unknown(json& answer, const CanonicalUrl& url) const {
  const Scope& scope = around_.seeds.scope();
  const Scope::Place place = scope.place(url);
  const bool possible =
      place == Scope::Place::in || (place == Scope::Place::off_site && around_.settings.max_hops_off_site > 0);
  answer["state"] = possible ? "unknown" : "out of scope";
  answer["why"] = scope.explain(url) + (possible ? "; no page that was fetched so far links to it" : "");
  if (const storage::SeenFilter* filter = around_.store.filter(); possible && filter != nullptr) {
    answer["taken_as_seen"] = filter->settled(url.digest());
    if (filter->settled(url.digest()))
      answer["why"] = scope.explain(url) +
                      "; no record of it, but the filter (seen = bloom) takes it as seen: if a page that was fetched "
                      "links to it, it was missed; as a seed it would be fetched";
  }
  if (const auto rule = around_.traps.suspicion(url, 0); possible && rule) answer["trap"] = trap_rule_name(*rule);
}

void Explanation::add_known(json& answer, const CanonicalUrl& url, const storage::UrlKey& key,
                            const storage::UrlRecord& known) const {
  const bool queued = known.state == storage::UrlState::queued;
  const bool in_flight = around_.bench.is_issued(key.url);
  answer["state"] = in_flight ? "in flight" : storage::state_name(known.state);
  answer["why"] = in_flight ? "is being fetched now" : why(known);
  if (const std::string target = around_.redirects.target_of(known.url);
      known.state == storage::UrlState::fetched && !target.empty()) {
    answer["redirects_to"] = target;
    answer["why"] = why(known) + " to " + target + ", which is out of scope";
  }
  if (const BenchHost* host = around_.bench.find(key.host); queued && host != nullptr && host->parked)
    answer["why"] =
        "waits until less of its domain or network is in flight (max_fetches_per_domain, max_fetches_per_network)";
  answer["reason"] = storage::reason_name(known.reason);
  answer["depth"] = known.depth;
  answer["steps"] = known.steps;
  answer["attempts"] = known.attempts;
  answer["status"] = known.status;
  if (known.since != Time{}) answer["when"] = utc(known.since);
  if (known.not_before != Time{}) answer["not_before"] = utc(known.not_before);
  answer["scope"] = around_.seeds.scope().explain(url);
  const bool by_page = known.off_site == 0 || known.steps > 0;
  if (around_.settings.page_requisites && by_page && !around_.seeds.scope().contains(url))
    answer["admitted"] = "as a requisite of a page";
  if (known.off_site > 0) answer["hops_off_site"] = known.off_site;
  if (around_.router.best_first()) answer["score"] = known.score;
  if (known.visit > 0) answer["visit"] = known.visit + 1;
  if (!known.validator.empty()) answer["validator"] = known.validator;
  if (const auto rule = around_.traps.suspicion(url, known.depth)) answer["trap"] = trap_rule_name(*rule);
  if (const std::string other = around_.mirrors.mirror_of(url.host()); !other.empty()) answer["mirror_of"] = other;
}

}  // namespace orbweaver
