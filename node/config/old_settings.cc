#include "node/config/old_settings.h"

#include <algorithm>

namespace orbweaver {

const std::vector<OldName>& old_names() {
  static const std::vector<OldName> names = {
      {"archive_file_bytes", "max_archive_file_bytes"},
      {"batch_age", "max_batch_age"},
      {"batch_bytes", "max_batch_bytes"},
      {"batch_records", "max_batch_records"},
      {"batches_under_way", "max_batches_in_flight"},
      {"body_bytes_max", "max_body_bytes"},
      {"body_memory_max", "max_body_memory"},
      {"crawl_delay_max", "max_crawl_delay"},
      {"decoded_bytes_max", "max_decoded_bytes"},
      {"delay_max", "max_delay"},
      {"dns_cache_entries", "max_dns_cache_entries"},
      {"dns_negative_max", "max_dns_negative_ttl"},
      {"dns_queries_max", "max_dns_queries"},
      {"dns_ttl_max", "max_dns_ttl"},
      {"dns_ttl_min", "min_dns_ttl"},
      {"endings_allow", "extensions_allow"},
      {"endings_deny", "extensions_deny"},
      {"fetches_max", "max_fetches"},
      {"gone_after", "presume_dead_after"},
      {"header_bytes_max", "max_header_bytes"},
      {"hops_off_site", "max_hops_off_site"},
      {"host_queue_in_memory", "max_host_queue_in_memory"},
      {"hosts_in_memory", "max_hosts_in_memory"},
      {"link_cache_entries", "max_link_cache_entries"},
      {"link_trace_bytes_max", "max_link_trace_bytes"},
      {"log_file_bytes", "max_log_file_bytes"},
      {"log_files", "max_log_files"},
      {"max_domain_fetches", "max_fetches_per_domain"},
      {"max_network_fetches", "max_fetches_per_network"},
      {"max_unknown_connections_address", "max_unknown_connections_per_address"},
      {"outbox_memory_records", "max_outbox_records_in_memory"},
      {"redirects_max", "max_redirects"},
      {"results_max", "max_results"},
      {"retries", "max_retries"},
      {"score_entries", "max_score_entries"},
      {"storage_memory", "max_storage_memory"},
      {"text_command_bytes_max", "max_text_command_bytes"},
      {"text_command_memory", "max_text_command_memory"},
      {"text_fingerprints", "max_text_fingerprints"},
      {"tls_min", "min_tls"},
  };
  return names;
}

const std::vector<OldValue>& old_values() {
  static const std::vector<OldValue> values = {{"sitemaps", "usual", "well_known"}};
  return values;
}

std::string_view name_of_now(std::string_view name) {
  const auto found = std::ranges::find(old_names(), name, &OldName::was);
  return found == old_names().end() ? name : found->name;
}

std::string_view value_of_now(std::string_view name, std::string_view value) {
  const auto found =
      std::ranges::find_if(old_values(), [&](const OldValue& old) { return old.name == name && old.was == value; });
  return found == old_values().end() ? value : found->value;
}

std::string old_setting_warning(std::string_view name, std::string_view value) {
  const std::string_view now = name_of_now(name), value_now = value_of_now(now, value);
  if (now == name && value_now == value) return {};
  const auto is_now = [](std::string_view was, std::string_view is) {
    return std::string(was) + " is now called " + std::string(is);
  };
  std::string text;
  if (now != name) text = is_now(name, now);
  if (value_now != value)
    text += (text.empty() ? "" : "; ") + is_now(std::string(now) + " = " + std::string(value), value_now);
  return text + "; release " + std::string(old_settings_end) + " will not accept the old name";
}

}  // namespace orbweaver
