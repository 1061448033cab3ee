// What a peer shows of itself: its status, as JSON, and its metrics.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/crawl/peer.h"
#include "node/crawl/peer_words.h"

namespace orbweaver {

using nlohmann::json;

// Empty: the seen-set is exact, and always was.
json Peer::seen_status() const {
  const storage::SeenCounts& seen = store_->seen();
  json status = json::object();
  if (seen.missed > 0 || store_->filter() != nullptr) status["missed"] = seen.missed;
  const storage::SeenFilter* filter = store_->filter();
  if (filter == nullptr) return status;
  status["memory_bytes"] = filter->memory_bytes();
  status["hashes"] = filter->hashes();
  status["fill"] = filter->fill();
  status["false_positives"] = filter->rate();
  status["false_positives_planned"] = filter->config().rate;
  status["entries"] = filter->entries();
  status["entries_planned"] = filter->entries_planned();
  status["overfull"] = filter->overfull();
  return status;
}

json Peer::seen_sets_status() const {
  const storage::SeenSets* const sets = store_->sets();
  if (sets == nullptr) return json::object();
  return {{"hosts", sets->hosts()},
          {"urls", sets->entries()},
          {"memory_bytes", sets->bytes()},
          {"memory_bytes_max", sets->config().bytes}};
}

// Bytes.
json Peer::memory_status() const {
  json shares = json::object();
  for (const MemoryUse::Share& share : memory_use_.shares)
    shares[std::string(share.name)] = {{"bound", share.bound}, {"used", share.used}, {"peak", share.peak}};
  return {{"max_memory", memory_.total},
          {"resident", memory_use_.resident},
          {"resident_peak", memory_use_.resident_peak},
          {"shares", std::move(shares)}};
}

std::map<std::string_view, std::uint64_t> Peer::memory_use() const {
  return {{"messages_out", forwarder_.bytes() + copier_.bytes()},
          {"link_cache", router_.cache().size() * LinkCache::entry_bytes},
          {"robots", robots_.bytes()},
          {"seen_sets", store_->sets() == nullptr ? 0 : store_->sets()->bytes()},
          {"frontier", bench_.bytes()}};
}

json Peer::own_status() const {
  const storage::Counts& counts = store_->held();
  json members = json::array();
  for (const auto& [peer, member] : membership_.members())
    members.push_back({{"id", peer.hex()},
                       {"address", member.address},
                       {"state", member_state_name(member)},
                       {"capacity", member.capacity},
                       {"protocol", member.protocol},
                       {"spoken", members_.version_of(peer)},
                       {"incarnation", member.incarnation}});
  json awaited = json::object();
  for (const auto& [peer, partitions] : keeper_.awaited()) awaited[peer.hex()] = partitions;
  json status = {{"id", id().hex()},
                 {"address", membership_.self().address},
                 {"state", member_state_name(membership_.self())},
                 {"ring", state_.ring.hex()},
                 {"version", ORBWEAVER_VERSION},
                 {"protocol", ring::protocol_version},
                 {"started", utc(state_.started)},
                 {"partitions", view_.empty() ? 0 : view_.ring().partitions_of(id()).size()},
                 {"ring_partitions", view_.partitions()},
                 {"confirmed", fence_.confirmed()},
                 {"awaited", std::move(awaited)},
                 {"held_back", held_back()},
                 {"ring_fingerprint", view_.ring().fingerprint()},
                 {"tenures_fingerprint", keeper_.tenures().fingerprint()},
                 {"members", std::move(members)},
                 {"seeds", seeds_.size()},
                 {"seen", store_->filter() == nullptr ? "exact" : "bloom"},
                 {"seen_filter", seen_status()},
                 {"seen_sets", seen_sets_status()},
                 {"counts",
                  {{"discovered", store_->held_records()},
                   {"queued", counts.queued},
                   {"fetched", counts.fetched},
                   {"failed", counts.failed},
                   {"excluded", counts.excluded},
                   {"outbox", counts.outbox},
                   {"in_flight", jobs_.size()},
                   {"pages_in_flight", held_in_flight()},
                   {"hosts", bench_.hosts()},
                   {"fetches", counters_.fetches},
                   {"retries", counters_.retries},
                   {"robots_fetched", counters_.robots_fetched},
                   {"bytes_received", counters_.bytes_received},
                   {"archive_bytes", counters_.archive_bytes},
                   {"links_found", links_.found()},
                   {"links_skipped", links_.skipped()},
                   {"links_over_budget", counters_.links_over_budget},
                   {"pages_cut", counters_.pages_cut},
                   {"links_out_of_scope", router_.counters().out_of_scope},
                   {"links_own", router_.counters().own},
                   {"links_foreign", router_.counters().foreign},
                   {"scores_raised", router_.counters().scores_raised},
                   {"link_cache_hits", router_.cache().hits()},
                   {"link_cache_misses", router_.cache().misses()},
                   {"link_cache_size", router_.cache().size()},
                   {"links_known_by_set", router_.counters().known_by_set},
                   {"seen_reads", store_->seen().reads},
                   {"seen_set_rows", store_->seen().set_rows},
                   {"seen_known_by_set", store_->seen().known_by_set},
                   {"seen_new_by_set", store_->seen().new_by_set},
                   {"seen_by_filter", store_->seen().taken_as_seen},
                   {"new_by_filter", store_->seen().taken_as_new},
                   {"batches_sent", forwarder_.batches_sent()},
                   {"batch_bytes_sent", forwarder_.bytes_sent()},
                   {"forwarded", forwarder_.records_sent()},
                   {"batches_received", batches_.counters().batches},
                   {"records_received", batches_.counters().records},
                   {"records_malformed", batches_.counters().malformed},
                   {"messages_refused", counters_.messages_refused + doorkeeper_.refused()},
                   {"claims_refused", counters_.claims_refused},
                   {"rows_dropped", counters_.rows_dropped},
                   {"partitions_held", keeper_.held()},
                   {"partitions_to_gain", keeper_.to_gain()},
                   {"partitions_orphaned", orphaned()},
                   {"partitions_to_hand_over", keeper_.to_hand_over()},
                   {"partitions_to_give_back", keeper_.to_give_back()},
                   {"copies_to_fill", keeper_.to_fill()},
                   {"copies", store_->counts().discovered() - counts.discovered()},
                   {"copies_waiting", copier_.waiting()},
                   {"copies_sent", copier_.records_sent()},
                   {"copy_bytes_sent", copier_.bytes_sent()},
                   {"records_moved", keeper_.transfers().records_sent()},
                   {"bytes_moved", keeper_.transfers().bytes_sent()}}}};
  status["robots"] = {{"files", robots_.files()},
                      {"bytes", robots_.bytes()},
                      {"bytes_max", robots_.bytes_max()},
                      {"dropped", robots_.dropped()},
                      {"shared", robots_.shared()},
                      {"parsed_again", counters_.robots_parsed_again},
                      {"rules_left_out", counters_.robots_rules_left_out}};
  if (!redirects_.empty()) status["redirects_out"] = redirects_.status();
  if (!link_trace_.empty()) status["link_trace"] = link_trace_;
  if (!memory_use_.shares.empty()) status["memory"] = memory_status();
  return status;
}

std::vector<std::pair<std::string, double>> Peer::metrics() const {
  const storage::Counts& counts = store_->held();
  std::map<std::string_view, double> members;
  for (const auto& [peer, member] : membership_.members()) ++members[member_state_name(member)];
  const auto number = [](auto value) { return static_cast<double>(value); };
  const storage::SeenFilter* filter = store_->filter();
  std::vector<std::pair<std::string, double>> values = {
      {"pages_fetched_total", number(allowance_.fetched())},
      {"pages_failed_total", number(counters_.pages_failed)},
      {"retries_total", number(counters_.retries)},
      {"urls_fetched", number(counts.fetched)},
      {"urls_failed", number(counts.failed)},
      {"urls_excluded", number(counts.excluded)},
      {"urls_queued", number(counts.queued)},
      {"fetches_in_flight", number(jobs_.size())},
      {"hosts_held", number(shares_.held())},
      {"hosts_held_total", number(shares_.held_in_all())},
      {"bytes_received_total", number(counters_.bytes_received)},
      {"links_found_total", number(links_.found())},
      {"links_over_budget_total", number(counters_.links_over_budget)},
      {"pages_cut_total", number(counters_.pages_cut)},
      {"links_own_total", number(router_.counters().own)},
      {"links_foreign_total", number(router_.counters().foreign)},
      {"scores_raised_total", number(router_.counters().scores_raised)},
      {"link_cache_hits_total", number(router_.cache().hits())},
      {"link_cache_misses_total", number(router_.cache().misses())},
      {"link_cache_size", number(router_.cache().size())},
      {"link_cache_hit_ratio",
       number(router_.cache().hits()) / std::max(1.0, number(router_.cache().hits() + router_.cache().misses()))},
      {"seen_reads_total", number(store_->seen().reads)},
      {"links_known_by_set_total", number(router_.counters().known_by_set)},
      {"seen_set_rows_total", number(store_->seen().set_rows)},
      {"seen_sets_bytes", store_->sets() == nullptr ? 0 : number(store_->sets()->bytes())},
      {"seen_sets_hosts", store_->sets() == nullptr ? 0 : number(store_->sets()->hosts())},
      {"seen_by_filter_total", number(store_->seen().taken_as_seen)},
      {"new_by_filter_total", number(store_->seen().taken_as_new)},
      {"seen_filter_bytes", filter == nullptr ? 0 : number(filter->memory_bytes())},
      {"seen_filter_fill", filter == nullptr ? 0 : filter->fill()},
      {"seen_filter_false_positives", filter == nullptr ? 0 : filter->rate()},
      {"pages_missed", store_->seen().missed},
      {"batches_sent_total", number(forwarder_.batches_sent())},
      {"batches_received_total", number(batches_.counters().batches)},
      {"batch_bytes_sent_total", number(forwarder_.bytes_sent())},
      {"outbox_records", number(counts.outbox)},
      {"hosts_active", number(bench_.hosts())},
      {"messages_refused_total", number(counters_.messages_refused + doorkeeper_.refused())},
      {"claims_refused_total", number(counters_.claims_refused)},
      {"rows_dropped_total", number(counters_.rows_dropped)},
      {"members_active", members["active"]},
      {"members_suspect", members["suspect"]},
      {"members_down", members["down"]},
      {"robots_fetched_total", number(counters_.robots_fetched)},
      {"robots_memory_bytes", number(robots_.bytes())},
      {"robots_parsed_again_total", number(counters_.robots_parsed_again)},
      {"robots_rules_left_out_total", number(counters_.robots_rules_left_out)},
      {"archive_bytes_total", number(counters_.archive_bytes)}};
  const auto traced = [&](const char* name) {
    const auto found = link_trace_.find(name);
    return found == link_trace_.end() ? 0.0 : number(found->second);
  };
  for (const MemoryUse::Share& share : memory_use_.shares) {
    const std::string name(share.name);
    values.emplace_back("memory_bound_bytes/" + name, number(share.bound));
    values.emplace_back("memory_used_bytes/" + name, number(share.used));
    values.emplace_back("memory_peak_bytes/" + name, number(share.peak));
  }
  values.emplace_back("memory_resident_bytes", number(memory_use_.resident));
  values.emplace_back("link_trace_links_total", traced("links"));
  values.emplace_back("link_trace_bytes", traced("bytes"));
  return values;
}

}  // namespace orbweaver
