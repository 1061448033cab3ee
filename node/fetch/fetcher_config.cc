#include "node/fetch/fetcher_config.h"

#include <algorithm>
#include <utility>

namespace orbweaver {

Result<CurlFetcherConfig> fetcher_config(const Settings& settings) {
  CurlFetcherConfig config;
  config.user_agent = user_agent_with(settings.user_agent, settings.contact);
  config.connect_timeout = settings.connect_timeout;
  config.fetch_timeout = settings.fetch_timeout;
  config.low_speed_bytes = settings.low_speed_bytes;
  config.low_speed_time = settings.low_speed_time;
  config.average_speed_bytes = settings.average_speed_bytes;
  config.max_header_bytes = static_cast<std::size_t>(settings.max_header_bytes);
  config.max_body_memory = static_cast<std::size_t>(settings.max_body_memory);
  config.resolve = settings.resolve;
  auto guard = AddressGuard::create(settings.allow_private, settings.deny_addresses);
  if (!guard) return tl::make_unexpected(guard.error());
  config.guard = std::move(*guard);
  config.resolver.servers = settings.dns_servers;
  config.resolver.timeout = settings.dns_timeout;
  config.resolver.lifetimes.ttl_min = settings.min_dns_ttl;
  config.resolver.lifetimes.max_ttl = settings.max_dns_ttl;
  config.resolver.lifetimes.max_negative = settings.max_dns_negative_ttl;
  config.resolver.max_entries = settings.max_dns_cache_entries;
  config.resolver.max_queries = settings.max_dns_queries;
  config.http_version = settings.http_version;
  config.min_tls = settings.min_tls;
  config.tls_refuse = settings.tls_verify == TlsVerify::refuse;
  config.ca_file = settings.ca_file;
  config.proxy = settings.proxy;
  for (const std::string& text : settings.site_headers) {
    auto header = parse_site_header(text);
    if (!header) return tl::make_unexpected(header.error());
    config.site_headers.push_back(std::move(*header));
  }
  return config;
}

}  // namespace orbweaver
