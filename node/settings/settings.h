// The values of every setting of a peer and of a crawl, for the code that uses them. Their names, bounds and sources
// are in the table (node/config/settings_table.h), which knows the rules that use them; this file knows none. Thread
// rule: values, free to copy between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base.h"
#include "ring/network_preset.h"
#include "ring/types.h"

namespace orbweaver {

enum class ScopeKind : std::uint8_t { host, domain, prefix, any };
enum class ArchiveKind : std::uint8_t { off, gzip };
enum class ParserKind : std::uint8_t { stream, tidy };
enum class HttpVersion : std::uint8_t { automatic, one_one, two };  // automatic: 2 where TLS agrees on it (ALPN)
enum class TlsMin : std::uint8_t { tls_1_2, tls_1_3 };
enum class TlsVerify : std::uint8_t { refuse, record };
enum class Cookies : std::uint8_t { off, crawl };
enum class OnCut : std::uint8_t { continue_, pause_minority };  // for peers that are cut off from the others
enum class SitemapUse : std::uint8_t { off, robots, well_known };
enum class Durability : std::uint8_t { process, power };
enum class DataAccess : std::uint8_t { owner, group, all };  // which users may read the data directory
enum class SeenSet : std::uint8_t { exact, bloom };
enum class TrailingSlash : std::uint8_t { keep, drop };
enum class JoinSchemes : std::uint8_t { keep, http, https };
enum class Boilerplate : std::uint8_t { drop, keep };
enum class HashBang : std::uint8_t { drop, keep };
enum class PartitionBy : std::uint8_t { host, domain, url };

enum class CrawlOrder : std::uint8_t { breadth, depth, best };
enum class BestBy : std::uint8_t { topic, opic, inlinks };

struct Settings {
  // Ring-wide: equal on every peer, agreed when a peer joins.
  std::uint32_t partitions = ring::partitions_default;
  PartitionBy partition_by = PartitionBy::host;  // node/crawl/partitioner.h
  ScopeKind scope = ScopeKind::host;
  std::vector<std::string> surt_accept;  // SURT prefixes that are also in scope
  std::vector<std::string> surt_reject;
  std::vector<std::string> url_allow;  // RE2; if any are given, only URLs that match one
  std::vector<std::string> url_deny;
  std::vector<std::string> extensions_allow;  // "pdf"
  std::vector<std::string> extensions_deny;
  std::vector<std::string> content_types_allow;  // "text/*"
  std::vector<std::string> content_types_deny;
  std::uint32_t max_hops_off_site = 0;
  std::vector<std::string> result_pages;  // node/scope/page_rules.h
  std::uint32_t max_results = 0;
  std::vector<std::string> site_links;  // node/scope/page_rules.h
  std::uint64_t max_pages = 0;          // here and below, 0: no limit
  std::uint64_t max_bytes = 0;          // of responses as received
  std::uint64_t max_pages_per_host = 0;
  std::uint64_t max_bytes_per_host = 0;
  std::uint64_t max_pages_per_domain = 0;
  std::uint64_t max_bytes_per_domain = 0;
  std::vector<std::string> trap_rules;  // names of the rules that are on
  std::uint32_t trap_budget = 0;        // suspects of one rule on one host that are fetched anyway
  std::uint32_t trap_repeats = 0;
  std::uint32_t trap_year_first = 0;
  std::uint32_t trap_years_ahead = 0;
  std::uint32_t trap_parameters = 0;
  std::uint64_t trap_query_bytes = 0;
  std::uint32_t trap_depth = 0;
  std::uint32_t trap_same_content = 0;
  std::uint32_t trap_mirror_pages = 0;
  std::uint32_t max_depth = 0;  // 0: no limit; seeds have depth 0, so a limit of n follows n links from a seed
  Duration delay{std::chrono::seconds{1}};
  Duration max_crawl_delay{};      // of robots.txt
  std::uint32_t delay_factor = 0;  // with the next: node/crawl/host_pacing.h
  Duration max_delay{};
  Duration address_delay{};        // node/scheduling/address_slots.h
  std::vector<std::string> sites;  // node/scope/site_rules.h
  std::uint32_t replicas = 2;      // copies of each partition: the owner's, and replicas - 1 more
  OnCut on_cut = OnCut::continue_;
  Duration presume_dead_after{};  // a peer that is down for longer does not prevent the end of the crawl
  bool stop_when_done = false;    // the ring stops by itself when nothing is left
  std::uint32_t max_redirects = 20;
  std::uint32_t max_retries = 3;                  // further tries after a failure that may be temporary
  Duration retry_delay{std::chrono::seconds{5}};  // before the first retry; doubles
  std::string user_agent;      // product token and contact; the token before '/' is matched in robots.txt
  std::string contact;         // URL or mail address, put into the User-Agent header
  bool obey_nofollow = false;  // skip links marked rel=nofollow, and all links of a page that says nofollow
  bool obey_noindex = true;    // do not keep a page that says noindex
  bool keep_validators = true;
  SitemapUse sitemaps = SitemapUse::robots;
  bool robots = true;  // obey robots.txt
  // Ring-wide, the order in which URLs are fetched: docs/how-to/orders.md.
  CrawlOrder order = CrawlOrder::breadth;
  BestBy best_by = BestBy::topic;
  std::string topic;  // words, or WORD^WEIGHT: node/topic/topic.h
  // Ring-wide, the canonical form: node/url/canonicaliser.h.
  bool strip_tracking = false;
  std::vector<std::string> strip_parameters;  // names of query parameters; '*' is any run of characters
  bool sort_parameters = false;
  bool strip_sessions = false;
  bool strip_index = false;
  TrailingSlash trailing_slash = TrailingSlash::keep;
  bool join_www = false;
  JoinSchemes join_schemes = JoinSchemes::keep;
  HashBang hash_bang = HashBang::drop;
  // Ring-wide, what counts as a link: node/html/links.h.
  std::vector<std::string> extra_links;  // "resources", "cites", "forms", "styles", "json-ld", "scripts", "text"
  bool page_requisites = false;          // images, scripts, styles are fetched with their page, out of scope too

  // This peer's own.
  std::string listen = "127.0.0.1:0";
  std::string advertise;  // the address sent to others; empty: the listen address
  std::vector<std::string> join;
  std::string ring_key_file;  // CURVE secret shared by the ring; empty: loopback only
  std::uint32_t capacity = 100;
  ArchiveKind archive = ArchiveKind::gzip;
  std::uint32_t archive_level = 0;  // set by the table
  std::uint64_t max_archive_file_bytes = 0;
  ParserKind parser = ParserKind::stream;
  bool text = false;
  bool record_links = false;                    // storage/link_trace.h
  std::uint64_t max_link_trace_bytes = 0;       // of this peer's files
  Boilerplate boilerplate = Boilerplate::drop;  // in the text: node/html/main_text.h
  std::uint32_t max_text_fingerprints = 0;      // pages remembered to recognise repeats: node/corpus/text_repeats.h
  std::vector<std::string> text_commands;       // TYPE=COMMAND: text from other formats than pages
  Duration text_command_timeout{};
  std::uint64_t max_text_command_bytes = 0;  // of a command's output; the rest is dropped
  std::vector<std::string> resolve;          // HOST:PORT:ADDR
  std::vector<std::string> allow_private;    // CIDR
  std::vector<std::string> dns_servers;      // ADDR[:PORT]; empty: the system's
  Duration dns_timeout{};
  Duration min_dns_ttl{};
  Duration max_dns_ttl{};
  Duration max_dns_negative_ttl{};
  std::uint32_t max_dns_cache_entries = 65536;
  std::uint32_t max_dns_queries = 64;
  HttpVersion http_version = HttpVersion::automatic;
  TlsMin min_tls = TlsMin::tls_1_2;
  TlsVerify tls_verify = TlsVerify::refuse;
  std::string ca_file;
  std::string proxy;
  Cookies cookies = Cookies::off;
  std::vector<std::string> site_headers;  // HOST Name: value
  std::uint32_t max_fetches = 256;        // transfers in flight
  Duration connect_timeout{};
  Duration fetch_timeout{};
  std::uint64_t low_speed_bytes = 0;  // a transfer slower than this per second for low_speed_time is abandoned
  Duration low_speed_time{};
  std::uint64_t max_body_bytes = 0;     // on the wire; longer bodies are cut to this
  std::uint64_t max_decoded_bytes = 0;  // after content decoding
  std::uint64_t max_body_memory = 0;    // of all bodies in flight together
  std::uint64_t max_header_bytes = 0;
  // Bounds of everything that comes from outside: settings_limits.cc.
  std::uint64_t max_memory = 0;               // of the whole peer; 0: node/settings/memory_plan.h
  std::uint64_t max_link_bytes = 0;           // for the resolved links of one page
  std::uint32_t max_fetches_per_domain = 0;   // transfers of one registrable domain while others wait; 0: a share
  std::uint32_t max_fetches_per_network = 0;  // likewise of one network, /24 or /48
  std::uint64_t average_speed_bytes = 0;      // per second, over a whole transfer
  Duration robots_timeout{};                  // the whole fetch of one robots.txt
  std::uint32_t max_open_files = 0;           // descriptors; 0: what the system allows, up to 65,536
  std::uint32_t max_unknown_connections = 0;  // to the ring's port, not authenticated yet
  std::uint32_t max_unknown_connections_per_address = 0;  // of those, from one address
  std::vector<std::string> deny_addresses;                // CIDR
  std::vector<std::string> allow_ports;                   // of the Fetch standard's bad ports
  std::vector<std::string> status_hosts;                  // names that the status port accepts
  DataAccess data_access = DataAccess::owner;
  std::uint64_t min_free_disk = 0;               // 0: node/settings/disk_room.h
  std::uint64_t max_text_command_memory = 0;     // address space of a text command
  std::uint32_t max_link_cache_entries = 65536;  // node/frontier/link_cache.h
  std::uint32_t max_batch_records = 0;
  std::uint64_t max_batch_bytes = 0;
  Duration max_batch_age{};
  std::uint32_t max_batches_in_flight = 0;
  Duration batch_timeout{};                        // resent when not acknowledged in this time
  std::uint32_t max_outbox_records_in_memory = 0;  // kept in memory for each peer; the rest stays on disk
  std::uint32_t max_hosts_in_memory = 0;           // workbench bound
  std::uint32_t max_host_queue_in_memory = 0;
  std::string topic_file;                       // a document whose words are the topic
  std::uint32_t max_score_entries = 1'048'576;  // URLs whose scores are tracked, under order = best
  std::uint32_t workers = 1;                    // parse and archive threads
  Durability durability = Durability::process;
  SeenSet seen = SeenSet::exact;                           // docs/inside/seen-set.md
  std::string seen_false_positives;                        // a number between 0 and 1, read by seen_filter_config()
  std::uint64_t seen_urls = 0;                             // the number of records that a peer's filter is planned for
  std::uint64_t max_storage_memory = 0;                    // RocksDB block cache
  ring::NetworkPreset network = ring::NetworkPreset::lan;  // the default of each of the next three that is not given
  Duration probe_every{};
  Duration probe_timeout{};
  Duration suspicion_time{};
  Duration leave_timeout{};
  std::string notify_url;                     // docs/how-to/notify.md; empty: none
  std::string notify_command;                 // words
  std::vector<std::string> notify_events;     // node/settings/notice_kinds.h, or "all"; empty: those told by default
  std::string status_listen = "127.0.0.1:0";  // /metrics, /healthz, /status; "off": none
  std::string log_level = "info";
  std::uint64_t max_log_file_bytes = 0;
  std::uint32_t max_log_files = 0;
};

}  // namespace orbweaver
