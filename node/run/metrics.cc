#include "node/run/metrics.h"

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
      {"pages_fetched_total", "URLs that ended with a response, whatever its status", counter},
      {"pages_failed_total", "URLs that ended without a response, after all retries", counter},
      {"pages_excluded_total", "URLs that ended unasked: robots, scope, depth or a limit", counter},
      {"urls_discovered_total", "URLs admitted for the first time by this peer", counter},
      {"urls_queued", "URLs waiting in this peer's frontier", gauge},
      {"fetches_in_flight", "requests under way", gauge},
      {"bytes_received_total", "bytes of response heads and bodies, as on the wire", counter},
      {"links_found_total", "links found in pages, before scope and duplicates", counter},
      {"links_own_total", "links whose host this peer owns", counter},
      {"links_foreign_total", "links whose host another peer owns", counter},
      {"link_cache_hits_total", "foreign links not sent because they were sent lately", counter},
      {"link_cache_misses_total", "foreign links that went into the outbox", counter},
      {"batches_sent_total", "batches of URLs sent to other peers, those sent again counted", counter},
      {"batches_received_total", "batches of URLs taken from other peers", counter},
      {"batch_bytes_sent_total", "bytes of the batches sent", counter},
      {"outbox_records", "URLs kept on disk until their owner acknowledges them", gauge},
      {"hosts_active", "hosts with URLs waiting in this peer's frontier", gauge},
      {"members_active", "peers of the ring that answer, this one counted", gauge},
      {"members_suspect", "peers of the ring that do not answer and may be down", gauge},
      {"members_down", "peers of the ring that are down", gauge},
      {"robots_fetched_total", "robots.txt files asked for", counter},
      {"archive_bytes_total", "bytes written to WARC files, compressed", counter},
  };
  return rows;
}

std::string metrics_text(const std::vector<std::pair<std::string, double>>& values) {
  const std::map<std::string, double> by_name = [&] {
    std::map<std::string, double> map;
    for (const auto& [name, value] : values) map[name] = value;
    return map;
  }();
  std::vector<prometheus::MetricFamily> families;
  for (const MetricRow& row : metric_rows()) {
    const auto found = by_name.find(std::string(row.name));
    if (found == by_name.end()) continue;
    prometheus::MetricFamily family;
    family.name = std::string(prefix) + std::string(row.name);
    family.help = row.help;
    prometheus::ClientMetric metric;
    if (row.type == MetricType::counter) {
      family.type = prometheus::MetricType::Counter;
      metric.counter.value = found->second;
    } else {
      family.type = prometheus::MetricType::Gauge;
      metric.gauge.value = found->second;
    }
    family.metric.push_back(std::move(metric));
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
