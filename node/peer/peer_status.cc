#include "node/peer/peer_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/crawl/peer_words.h"

namespace orbweaver {

using nlohmann::json;

// Empty: the seen-set is exact, and always was exact.
json PeerStatus::seen_filter() const {
  const storage::Store& store = *around_.state.store;
  const storage::SeenCounts& seen = store.seen();
  json status = json::object();
  if (seen.missed > 0 || store.filter() != nullptr) status["missed"] = seen.missed;
  const storage::SeenFilter* filter = store.filter();
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

json PeerStatus::seen_sets() const {
  const storage::SeenSets* const sets = around_.state.store->sets();
  if (sets == nullptr) return json::object();
  return {{"hosts", sets->hosts()},
          {"urls", sets->entries()},
          {"memory_bytes", sets->bytes()},
          {"max_memory_bytes", sets->config().bytes}};
}

// In bytes.
json PeerStatus::memory() const {
  json shares = json::object();
  for (const MemoryUse::Share& share : memory_.shares)
    shares[std::string(share.name)] = {{"bound", share.bound}, {"used", share.used}, {"peak", share.peak}};
  return {{"max_memory", around_.state.memory.total},
          {"resident", memory_.resident},
          {"resident_peak", memory_.resident_peak},
          {"shares", std::move(shares)}};
}

std::map<std::string_view, std::uint64_t> PeerStatus::memory_use() const {
  const storage::Store& store = *around_.state.store;
  const Replication& replication = around_.records.replication;
  return {{"messages_out", replication.outbox.bytes() + replication.replicator.bytes()},
          {"link_cache", around_.links.router.cache().size() * LinkCache::entry_bytes},
          {"robots", around_.fetches.robots.cache().bytes()},
          {"seen_sets", store.sets() == nullptr ? 0 : store.sets()->bytes()},
          {"frontier", around_.records.bench.bytes()},
          {"waiting_hosts", around_.records.bench.waiting().bytes()}};
}

// Partitions whose holder is gone and that no peer has taken over yet, as far as this peer knows.
std::uint64_t PeerStatus::orphaned() const {
  const ring::Tenures& tenures = around_.records.replication.partition_manager.tenures();
  std::size_t orphaned = tenures.known();
  for (const ring::PeerId& holder : around_.members.reachable()) orphaned -= tenures.held_by(holder);
  return orphaned;
}

// Pages in flight whose partitions this peer holds and whose records it counts as queued. Not counted: pages of
// partitions that it lost meanwhile, and pages for which another peer's outcome has come.
std::uint64_t PeerStatus::held_in_flight() const {
  std::uint64_t pages = 0;
  around_.fetches.jobs.for_each([&](const Job& job) {
    const PageFetch* const page = job.fetch.page();
    if (page == nullptr || !around_.records.replication.partition_manager.holds(job.fetch.host.partition)) return;
    const auto record = around_.state.store->find(page->queued.key);
    if (record && *record && (*record)->state == storage::UrlState::queued) ++pages;
  });
  return pages;
}

std::uint64_t PeerStatus::messages_refused() const {
  return around_.faults.counters().messages_refused + around_.doorkeeper.refused();
}

json PeerStatus::counts() const {
  const storage::Store& store = *around_.state.store;
  const storage::Counts& counts = store.held();
  const Replication& replication = around_.records.replication;
  const FetchParts& fetches = around_.fetches;
  return {{"discovered", store.held_records()},
          {"queued", counts.queued},
          {"fetched", counts.fetched},
          {"failed", counts.failed},
          {"excluded", counts.excluded},
          {"outbox", counts.outbox},
          {"in_flight", fetches.jobs.size()},
          {"pages_in_flight", held_in_flight()},
          {"hosts", around_.records.bench.hosts()},
          {"fetches", fetches.scheduler.counters().fetches},
          {"pages_fetched", fetches.allowance.fetched()},
          {"retries", fetches.outcomes.counters().retries},
          {"robots_fetched", fetches.robots.counters().fetched},
          {"bytes_received", fetches.outcomes.counters().bytes_received},
          {"archive_bytes", fetches.outcomes.counters().archive_bytes},
          {"links_found", around_.links.follower.found()},
          {"links_skipped", around_.links.follower.skipped()},
          {"links_over_budget", fetches.outcomes.counters().links_over_budget},
          {"pages_cut", fetches.outcomes.counters().pages_cut},
          {"links_out_of_scope", around_.links.router.counters().out_of_scope},
          {"links_own", around_.links.router.counters().own},
          {"links_foreign", around_.links.router.counters().foreign},
          {"scores_raised", around_.links.router.counters().scores_raised},
          {"link_cache_hits", around_.links.router.cache().hits()},
          {"link_cache_misses", around_.links.router.cache().misses()},
          {"link_cache_size", around_.links.router.cache().size()},
          {"seen_set_hits", around_.links.router.counters().known_by_set},
          {"seen_reads", store.seen().reads},
          {"seen_set_rows", store.seen().set_rows},
          {"seen_known_by_set", store.seen().known_by_set},
          {"seen_new_by_set", store.seen().new_by_set},
          {"seen_filter_hits", store.seen().taken_as_seen},
          {"seen_filter_negatives", store.seen().taken_as_new},
          {"batches_sent", replication.outbox.batches_sent()},
          {"batch_bytes_sent", replication.outbox.bytes_sent()},
          {"forwarded", replication.outbox.records_sent()},
          {"batches_received", around_.batches.counters().batches},
          {"records_received", around_.batches.counters().records},
          {"records_malformed", around_.batches.counters().malformed},
          {"messages_refused", messages_refused()},
          {"claims_refused", around_.faults.counters().claims_refused},
          {"rows_dropped", around_.faults.counters().rows_dropped},
          {"partitions_held", replication.partition_manager.held()},
          {"partitions_to_gain", replication.partition_manager.to_gain()},
          {"partitions_orphaned", orphaned()},
          {"partitions_to_hand_over", replication.partition_manager.to_hand_over()},
          {"partitions_to_return", replication.partition_manager.to_return()},
          {"copies_to_backfill", replication.partition_manager.to_backfill()},
          {"copies", store.counts().discovered() - counts.discovered()},
          {"copies_waiting", replication.replicator.waiting()},
          {"copies_sent", replication.replicator.records_sent()},
          {"copy_bytes_sent", replication.replicator.bytes_sent()},
          {"outcomes_given_up", replication.replicator.outcomes_given_up()},
          {"records_moved", replication.partition_manager.transfers().records_sent()},
          {"bytes_moved", replication.partition_manager.transfers().bytes_sent()}};
}

json PeerStatus::orders() const {
  const OperatorOrders& orders = around_.directives.orders();
  std::size_t paused = 0, blocked = 0, delays = 0;
  for (const HostOrders::Orders* const of_hosts : {&orders.hosts().hosts, &orders.hosts().below})
    for (const auto& [host, order] : *of_hosts) {
      paused += order.paused ? 1 : 0;
      blocked += order.blocked ? 1 : 0;
      delays += order.delay ? 1 : 0;
    }
  return {{"paused", orders.hosts().ring_paused},
          {"paused_hosts", paused},
          {"blocked_hosts", blocked},
          {"delays", delays},
          {"rows", orders.size()}};
}

json PeerStatus::robots() const {
  const FetchParts& fetches = around_.fetches;
  return {{"files", fetches.robots.cache().files()},
          {"bytes", fetches.robots.cache().bytes()},
          {"max_bytes", fetches.robots.cache().max_bytes()},
          {"dropped", fetches.robots.cache().dropped()},
          {"shared", fetches.robots.cache().shared()},
          {"parsed_again", fetches.robots.counters().parsed_again},
          {"rules_left_out", fetches.robots.counters().rules_left_out}};
}

json PeerStatus::process() const {
  json process = {{"at_us", process_.at.time_since_epoch().count()},
                  {"cpu_seconds", process_.cpu_seconds},
                  {"loop_cpu_seconds", process_.loop_cpu_seconds},
                  {"processors", process_.processors}};
  if (process_.disk_size > 0) process["disk_free_bytes"] = process_.disk_free;
  if (process_.disk_size > 0) process["disk_size_bytes"] = process_.disk_size;
  process["disk_low"] = around_.state.disk_low;
  return process;
}

// How URLs ended: {state: {reason: number}}.
json PeerStatus::outcomes() const {
  json outcomes = json::object();
  for (const auto& [kind, count] : around_.records.writer.outcomes().all())
    outcomes[std::string(state_name(kind.first))][std::string(reason_name(kind.second))] = count;
  return outcomes;
}

json PeerStatus::politeness() const {
  const GapsSeen& gaps = process_.gaps;
  json seen = {{"gaps", gaps.gaps}, {"too_short", gaps.too_short}};
  if (gaps.gaps > 0) seen["least_us"] = gaps.least.count();
  if (gaps.gaps > 0) seen["promised_us"] = gaps.promised.count();
  return seen;
}

// What holds its fetching back.
json PeerStatus::limit() const {
  const FetchLimits& limits = around_.fetches.limits;
  const FetchLimits::Hosts hosts = limits.hosts();
  json seconds = json::object();
  for (std::size_t i = 0; i < fetch_limits; ++i) {
    const auto limit = static_cast<FetchLimit>(i);
    seconds[std::string(name_of(limit))] = std::chrono::duration<double>(limits.time(limit)).count();
  }
  return {{"by", name_of(limits.limit())},
          {"at_us", limits.noted().time_since_epoch().count()},
          {"hosts",
           {{"shares", hosts.shares},
            {"delays", hosts.delays},
            {"answers", hosts.answers},
            {"workers", hosts.workers},
            {"lookups", hosts.lookups},
            {"peers", hosts.peers}}},
          {"seconds", std::move(seconds)}};
}

json PeerStatus::status(bool brief) const {
  const storage::Store& store = *around_.state.store;
  const Replication& replication = around_.records.replication;
  const FetchParts& fetches = around_.fetches;
  const ring::Membership& membership = around_.members.membership();
  const View& view = around_.members.view();
  json members = json::array();
  for (const auto& [peer, member] : membership.members()) {
    if (brief && member.state == ring::MemberState::active) continue;
    members.push_back({{"id", peer.hex()},
                       {"address", member.address},
                       {"state", member_state_name(member)},
                       {"capacity", member.capacity},
                       {"protocol", member.protocol},
                       {"spoken", around_.members.version_of(peer)},
                       {"incarnation", member.incarnation}});
  }
  json awaited = json::object();
  for (const auto& [peer, partitions] : replication.partition_manager.awaited()) awaited[peer.hex()] = partitions;
  json status = {{"id", around_.state.id.hex()},
                 {"address", membership.self().address},
                 {"state", member_state_name(membership.self())},
                 {"ring", around_.state.ring.hex()},
                 {"version", ORBWEAVER_VERSION},
                 {"protocol", ring::protocol_version},
                 {"started", utc(around_.state.started)},
                 {"clock_us", around_.state.stepped.time_since_epoch().count()},
                 {"partitions", view.empty() ? 0 : view.ring().partitions_of(around_.state.id).size()},
                 {"ring_partitions", view.partitions()},
                 {"confirmed", around_.fence.confirmed()},
                 {"awaited", std::move(awaited)},
                 {"not_fetching_because", fetches.gate.reasons()},
                 {"ring_fingerprint", view.ring().fingerprint()},
                 {"tenures_fingerprint", replication.partition_manager.tenures().fingerprint()},
                 {"members", std::move(members)},
                 {"seeds", around_.directives.seeds().size()},
                 {"seen", store.filter() == nullptr ? "exact" : "bloom"},
                 {"seen_filter", seen_filter()},
                 {"seen_sets", seen_sets()},
                 {"counts", counts()}};
  status["orders"] = orders();
  status["robots"] = robots();
  status["limit"] = limit();
  status["outcomes"] = outcomes();
  status["politeness"] = politeness();
  if (process_.at != Time{}) status["process"] = process();
  if (!around_.links.redirects.empty()) status["redirects_out"] = around_.links.redirects.status();
  if (!link_trace_.empty()) status["link_trace"] = link_trace_;
  if (!memory_.shares.empty()) status["memory"] = memory();
  return status;
}

std::vector<std::pair<std::string, double>> PeerStatus::metrics() const {
  const storage::Store& store = *around_.state.store;
  const Replication& replication = around_.records.replication;
  const FetchParts& fetches = around_.fetches;
  const storage::Counts& counts = store.held();
  std::map<std::string_view, double> members;
  for (const auto& [peer, member] : around_.members.membership().members()) ++members[member_state_name(member)];
  const auto number = [](auto value) { return static_cast<double>(value); };
  const storage::SeenFilter* filter = store.filter();
  std::vector<std::pair<std::string, double>> values = {
      {"pages_fetched_total", number(fetches.allowance.fetched())},
      {"pages_failed_total", number(around_.records.writer.outcomes().in(storage::UrlState::failed))},
      {"retries_total", number(fetches.outcomes.counters().retries)},
      {"urls_fetched", number(counts.fetched)},
      {"urls_failed", number(counts.failed)},
      {"urls_excluded", number(counts.excluded)},
      {"urls_queued", number(counts.queued)},
      {"fetches_in_flight", number(fetches.jobs.size())},
      {"hosts_waiting_for_share", number(fetches.jobs.shares().waiting())},
      {"host_share_waits_total", number(fetches.jobs.shares().waits_in_all())},
      {"bytes_received_total", number(fetches.outcomes.counters().bytes_received)},
      {"links_found_total", number(around_.links.follower.found())},
      {"links_over_budget_total", number(fetches.outcomes.counters().links_over_budget)},
      {"pages_cut_total", number(fetches.outcomes.counters().pages_cut)},
      {"links_own_total", number(around_.links.router.counters().own)},
      {"links_foreign_total", number(around_.links.router.counters().foreign)},
      {"scores_raised_total", number(around_.links.router.counters().scores_raised)},
      {"link_cache_hits_total", number(around_.links.router.cache().hits())},
      {"link_cache_misses_total", number(around_.links.router.cache().misses())},
      {"link_cache_size", number(around_.links.router.cache().size())},
      {"link_cache_hit_ratio",
       number(around_.links.router.cache().hits()) /
           std::max(1.0, number(around_.links.router.cache().hits() + around_.links.router.cache().misses()))},
      {"seen_reads_total", number(store.seen().reads)},
      {"seen_set_hits_total", number(around_.links.router.counters().known_by_set)},
      {"seen_set_rows_total", number(store.seen().set_rows)},
      {"seen_sets_bytes", store.sets() == nullptr ? 0 : number(store.sets()->bytes())},
      {"seen_sets_hosts", store.sets() == nullptr ? 0 : number(store.sets()->hosts())},
      {"seen_filter_hits_total", number(store.seen().taken_as_seen)},
      {"seen_filter_negatives_total", number(store.seen().taken_as_new)},
      {"seen_filter_bytes", filter == nullptr ? 0 : number(filter->memory_bytes())},
      {"seen_filter_fill", filter == nullptr ? 0 : filter->fill()},
      {"seen_filter_false_positives", filter == nullptr ? 0 : filter->rate()},
      {"pages_missed", store.seen().missed},
      {"batches_sent_total", number(replication.outbox.batches_sent())},
      {"batches_received_total", number(around_.batches.counters().batches)},
      {"batch_bytes_sent_total", number(replication.outbox.bytes_sent())},
      {"outbox_records", number(counts.outbox)},
      {"partitions_held", number(replication.partition_manager.held())},
      {"partitions_moving",
       number(replication.partition_manager.to_gain() + replication.partition_manager.to_hand_over() +
              replication.partition_manager.to_return())},
      {"partitions_without_copy", number(replication.partition_manager.to_backfill())},
      {"may_fetch", fetches.gate.open() ? 1.0 : 0.0},
      {"hosts_active", number(around_.records.bench.hosts())},
      {"messages_refused_total", number(messages_refused())},
      {"claims_refused_total", number(around_.faults.counters().claims_refused)},
      {"rows_dropped_total", number(around_.faults.counters().rows_dropped)},
      {"members_active", members["active"]},
      {"members_suspect", members["suspect"]},
      {"members_down", members["down"]},
      {"robots_fetched_total", number(fetches.robots.counters().fetched)},
      {"robots_memory_bytes", number(fetches.robots.cache().bytes())},
      {"robots_parsed_again_total", number(fetches.robots.counters().parsed_again)},
      {"robots_rules_left_out_total", number(fetches.robots.counters().rules_left_out)},
      {"archive_bytes_total", number(fetches.outcomes.counters().archive_bytes)}};
  const auto traced = [&](const char* name) {
    const auto found = link_trace_.find(name);
    return found == link_trace_.end() ? 0.0 : number(found->second);
  };
  for (const MemoryUse::Share& share : memory_.shares) {
    const std::string name(share.name);
    values.emplace_back("memory_bound_bytes/" + name, number(share.bound));
    values.emplace_back("memory_used_bytes/" + name, number(share.used));
    values.emplace_back("memory_peak_bytes/" + name, number(share.peak));
  }
  values.emplace_back("memory_resident_bytes", number(memory_.resident));
  for (std::size_t i = 0; i < fetch_limits; ++i) {
    const auto limit = static_cast<FetchLimit>(i);
    values.emplace_back("limited_seconds_total/" + std::string(name_of(limit)),
                        std::chrono::duration<double>(fetches.limits.time(limit)).count());
  }
  for (const auto& [kind, count] : around_.records.writer.outcomes().with_all_reasons()) {
    const auto& [state, reason] = kind;
    if (state == storage::UrlState::fetched) continue;
    values.emplace_back(
        "urls_" + std::string(state_name(state)) + "_by_reason_total/" + std::string(reason_name(reason)),
        number(count));
  }
  values.emplace_back("request_gaps_total", number(process_.gaps.gaps));
  values.emplace_back("request_gaps_too_short_total", number(process_.gaps.too_short));
  values.emplace_back("link_trace_links_total", traced("links"));
  values.emplace_back("link_trace_bytes", traced("bytes"));
  return values;
}

}  // namespace orbweaver
