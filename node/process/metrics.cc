#include "node/process/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <sstream>

namespace orbweaver {
namespace {

constexpr std::string_view prefix = "orbweaver_";

}  // namespace

const std::vector<MetricRow>& metric_rows() {
  using enum MetricType;
  static const std::vector<MetricRow> rows = {
      {"pages_fetched_total", "pages fetched (2xx, 3xx) since the start of the process", counter},
      {"pages_failed_total", "pages that failed for good since the start of the process", counter},
      {"retries_total", "failed fetches that will be tried again", counter},
      {"urls_fetched", "URLs in state fetched that this peer holds", gauge},
      {"urls_failed", "URLs in state failed that this peer holds", gauge},
      {"urls_excluded", "URLs in state excluded that this peer holds", gauge},
      {"urls_failed_by_reason_total", "URLs that failed for good since the start of the process", counter, "reason"},
      {"urls_excluded_by_reason_total", "URLs that were excluded since the start of the process", counter, "reason"},
      {"request_gaps_total", "waits between two requests to one host, where a wait was promised", counter},
      {"request_gaps_too_short_total", "of these, those that were shorter than promised: a fault", counter},
      {"urls_queued", "URLs in state queued that this peer holds", gauge},
      {"fetches_in_flight", "requests in flight", gauge},
      {"hosts_waiting_for_share", "hosts that wait because their domain or network uses its share of the transfers",
       gauge},
      {"host_share_waits_total", "how often a host had to wait for that reason", counter},
      {"bytes_received_total", "bytes of response heads and bodies, as on the wire", counter},
      {"links_found_total", "links found in pages, each counted once per page, before scope and cache", counter},
      {"links_over_budget_total", "links left out because their page exceeds max_link_bytes or another bound of pages",
       counter},
      {"pages_cut_total", "pages not read whole because they exceed their bounds, unpacked or in UTF-8", counter},
      {"memory_bound_bytes", "bound of a share of max_memory (docs/how-to/memory.md)", gauge},
      {"memory_used_bytes", "current use of a share of max_memory", gauge},
      {"memory_peak_bytes", "highest use of a share of max_memory", gauge},
      {"memory_resident_bytes", "resident memory of the process", gauge},
      {"links_own_total", "links that the cache did not know and this peer owns", counter},
      {"links_foreign_total", "links that the cache did not know and another peer owns", counter},
      {"scores_raised_total", "links that the cache knew and that passed because of a higher score", counter},
      {"link_cache_hits_total", "links that the link cache knew: no message, no disk read", counter},
      {"link_cache_misses_total", "links that the link cache did not know", counter},
      {"link_cache_size", "URLs in the link cache", gauge},
      {"link_cache_hit_ratio", "hits over look-ups since the start of the process, 0 to 1", gauge},
      {"link_trace_links_total", "links recorded (record_links) since the start of the process", counter},
      {"link_trace_bytes", "bytes of this peer's link traces", gauge},
      {"seen_reads_total", "URLs looked up in the store when links and outcomes were written", counter},
      {"seen_set_hits_total", "links that the set of their host's URLs knew: no look-up in the store", counter},
      {"seen_set_rows_total", "rows read to fill the sets of hosts' URLs", counter},
      {"seen_sets_bytes", "memory of the sets of hosts' URLs", gauge},
      {"seen_sets_hosts", "hosts that have a set of their URLs", gauge},
      {"seen_filter_hits_total", "links that the Bloom filter judged as seen: no look-up in the store", counter},
      {"seen_filter_negatives_total", "links that the Bloom filter judged as new: no look-up in the store", counter},
      {"seen_filter_bytes", "memory of the seen-set's Bloom filter; 0: it is exact", gauge},
      {"seen_filter_fill", "share of the filter's bits that are set", gauge},
      {"seen_filter_false_positives", "current probability that a new page is mistaken for a seen one", gauge},
      {"pages_missed", "pages that the filter is expected to have missed", gauge},
      {"batches_sent_total", "batches of URLs sent to other peers; a batch that is sent again counts once", counter},
      {"batches_received_total", "batches of URLs accepted from other peers", counter},
      {"batch_bytes_sent_total", "bytes of the batches sent", counter},
      {"outbox_records", "URLs kept on disk until their owner acknowledges them", gauge},
      {"hosts_active", "hosts on the workbench", gauge},
      {"messages_refused_total", "messages that this peer refused, or that another peer reported as refused", counter},
      {"messages_malformed_total", "messages that could not be read, or have an unsupported protocol version", counter},
      {"messages_dropped_total", "messages dropped because too many, or too many bytes, waited for the core", counter},
      {"message_bytes_waiting", "memory of messages that wait for the core", gauge},
      {"claims_refused_total",
       "members and tenures in messages that were not believed because they are too far from what is known", counter},
      {"rows_dropped_total", "rows of the data directory that were ignored at the start", counter},
      {"connections_opened_total", "connections to web servers and proxies", counter},
      {"messages_unsent_total",
       "messages not sent because their peer's queue was full; those that matter are sent again", counter},
      {"messages_unroutable_total",
       "messages abandoned because their peer could not be reached for 30 seconds, or did not read", counter},
      {"connections_refused_total", "connections to the ring's port with a wrong ring key or none, or without ZeroMQ",
       counter},
      {"connections_unknown", "connections to the ring's port that have not shown the ring key yet", gauge},
      {"connections_unknown_shut_total", "connections without a ring key shut down because there were too many",
       counter},
      {"connections_endless_shut_total", "connections shut down because a message on them did not end", counter},
      {"archive_syncs_total", "syncs of archive and text files under durability = power, before pages count", counter},
      {"archive_synced_pages_total", "responses that counted after these syncs; several share one", counter},
      {"descriptor_waits_total", "files and connections that waited for a free file descriptor", counter},
      {"notices_taken_total", "notices that notify_url or notify_command has taken", counter},
      {"notices_lost_total", "notices that were refused, or for which the queue had no room", counter},
      {"notices_waiting", "notices that wait to be taken", gauge},
      {"dns_queries_total", "queries to name servers, without repetitions and without answers from the cache", counter},
      {"partitions_held", "partitions whose URLs this peer fetches", gauge},
      {"partitions_moving", "partitions that other peers hand to this one, or this one to others", gauge},
      {"partitions_without_copy", "held partitions that lack a copy which is being made", gauge},
      {"may_fetch", "1 when this peer may ask for pages, else 0; orbweaver status says why", gauge},
      {"members_active", "peers of the ring that answer, including this one", gauge},
      {"members_suspect", "peers of the ring that do not answer and may be down", gauge},
      {"members_down", "peers of the ring that are down", gauge},
      {"robots_fetched_total", "robots.txt files fetched, absent or out of reach", counter},
      {"robots_memory_bytes", "bytes of robots rules in memory; a share of max_memory bounds them", gauge},
      {"robots_parsed_again_total",
       "robots.txt files read back from the store, after a restart or an eviction from memory", counter},
      {"robots_rules_left_out_total", "rules of a robots.txt beyond the 20,000 that are kept", counter},
      {"archive_bytes_total", "bytes written to WARC files, compressed", counter},
      {"disk_free_bytes", "room on the disk of the data directory", gauge},
      {"disk_size_bytes", "size of the disk of the data directory", gauge},
      {"limited_seconds_total", "time by what held fetching back most; its label says what (docs/how-to/limit.md)",
       counter, "by"},
      {"cpu_seconds_total", "processor time of the process, of all its threads", counter},
      {"loop_cpu_seconds_total", "processor time of the thread that decides what is fetched", counter},
      {"start_time_seconds", "when the process started, in seconds since 1970", gauge},
      {"build_info", "1; its label says the version", gauge, "version"},
  };
  return rows;
}

void add_transport(const ring::TransportStats& stats, std::vector<std::pair<std::string, double>>& values) {
  const auto add = [&](const char* name, std::uint64_t value) {
    values.emplace_back(name, static_cast<double>(value));
  };
  add("messages_unsent_total", stats.refused);
  add("messages_unroutable_total", stats.unroutable);
  add("connections_refused_total", stats.strangers);
  add("connections_unknown", stats.unknown);
  add("connections_unknown_shut_total", stats.shut);
  add("connections_endless_shut_total", stats.endless);
}

std::string metrics_text(const std::vector<std::pair<std::string, double>>& values) {
  // By name, and by the part after '/', the label's value.
  std::map<std::string, std::map<std::string, double>> by_name;
  for (const auto& [name, value] : values) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    by_name[name.substr(0, slash)][slash < name.size() ? name.substr(slash + 1) : std::string()] = value;
  }
  std::vector<prometheus::MetricFamily> families;
  for (const MetricRow& row : metric_rows()) {
    const auto found = by_name.find(std::string(row.name));
    if (found == by_name.end()) continue;
    prometheus::MetricFamily family;
    family.name = std::string(prefix) + std::string(row.name);
    family.help = row.help;
    for (const auto& [label, value] : found->second) {
      prometheus::ClientMetric metric;
      if (!label.empty()) metric.label.push_back({std::string(row.label), label});
      if (row.type == MetricType::counter) {
        family.type = prometheus::MetricType::Counter;
        metric.counter.value = value;
      } else {
        family.type = prometheus::MetricType::Gauge;
        metric.gauge.value = value;
      }
      family.metric.push_back(std::move(metric));
    }
    families.push_back(std::move(family));
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

std::string metrics_markdown() {
  std::string out = "| metric | type | what it counts |\n| --- | --- | --- |\n";
  for (const MetricRow& row : metric_rows()) {
    out += "| `";
    out += prefix;
    out += row.name;
    out += row.type == MetricType::counter ? "` | counter | " : "` | gauge | ";
    out += row.help;
    out += " |\n";
  }
  return out;
}

}  // namespace orbweaver
