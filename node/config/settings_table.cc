// The table: every setting is one row here, and nowhere else. A new field of Settings needs one row and no other code:
// file, environment, flags, the handshake and docs/reference/settings.md all use it.
#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "node/config/setting_def.h"
#include "node/scope/site_rules.h"
#include "node/settings/cidr.h"
#include "node/settings/endpoint.h"
#include "node/settings/site_header.h"
#include "node/text/shown.h"
#include "ring/messages.h"
#include "ring/network_preset.h"
#include "storage/trace_page.h"

namespace orbweaver {

std::string check_cidr(std::string_view text) {
  const auto range = Cidr::parse(text);
  return range ? std::string{} : range.error().message;
}

namespace {

using Rows = std::vector<SettingDef>;

// --- checks of texts: what is wrong, or nothing ---

std::string check_site(std::string_view text) {
  const Result<SiteRule> rule = parse_site_rule(text);
  return rule ? "" : shown(text) + ": " + rule.error().message;
}

// RFC 9309 2.2.1: a product token is letters, '_' and '-'; RFC 9110 10.1.5: then a version and comments. Visible ASCII
// only, because it is a header line.
std::string check_user_agent(std::string_view text) {
  const std::string_view token = text.substr(0, text.find_first_of("/ "));
  const auto token_char = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  };
  if (token.empty() || !std::all_of(token.begin(), token.end(), token_char)) {
    return shown(text) +
           " does not start with a product token of letters, '_' and '-', for example mybot/1.0 "
           "(+https://example.org/bot)";
  }
  const auto visible = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::all_of(text.begin(), text.end(), visible))
    return shown(text) + " holds a character that is not visible ASCII";
  return {};
}

std::string check_listen(std::string_view text) {
  const auto endpoint = parse_endpoint(text);
  if (!endpoint) return endpoint.error().message;
  if (!endpoint->is_ip)
    return shown(text) +
           " names no address of this machine: write an IP address, for example 127.0.0.1:7700 or [::]:7700";
  return {};
}

std::string check_peer_address(std::string_view text) {
  const auto endpoint = parse_endpoint(text);
  if (!endpoint) return endpoint.error().message;
  if (endpoint->port == 0) return shown(text) + " has port 0: others need the real port, from 1 to 65535";
  return {};
}

std::string check_advertise(std::string_view text) { return text.empty() ? std::string{} : check_peer_address(text); }

std::string check_status_listen(std::string_view text) { return text == "off" ? std::string{} : check_listen(text); }

std::string check_resolve(std::string_view text) {
  const auto entry = parse_resolve_entry(text);
  return entry ? std::string{} : entry.error().message;
}

std::string check_dns_server(std::string_view text) {
  if (parse_ip(text)) return {};
  const auto endpoint = parse_endpoint(text);
  if (endpoint && endpoint->is_ip && endpoint->port != 0) return {};
  return shown(text) + " is not a name server: write ADDR or ADDR:PORT, for example 9.9.9.9 or [2620:fe::fe]:53";
}

std::string check_proxy(std::string_view text) {
  if (text.empty()) return {};
  const auto proxy = parse_proxy(text);
  return proxy ? std::string{} : proxy.error().message;
}

std::string check_site_header(std::string_view text) {
  const auto header = parse_site_header(text);
  return header ? std::string{} : header.error().message;
}

std::string anything(std::string_view) { return {}; }

// --- rows ---

SettingDef partitions_setting() {
  SettingDef def =
      count_setting({"partitions", "Slices of the host space that are owned, handed over and replicated as one.",
                     "4096 gives each of 1,000 peers about four, none more than five; the table is 8 KiB. Fixed when "
                     "the ring is made. A power of two, because a partition is the leading bits of MD5(host)."},
                    &Settings::partitions, ring::partitions_default, 1, ring::max_partitions);
  def.row.bounds += ", a power of two";
  def.set = [in_bounds = std::move(def.set)](Settings& settings, std::string_view text) -> Result<void> {
    Settings candidate = settings;
    if (auto set = in_bounds(candidate, text); !set) return set;
    if (!std::has_single_bit(candidate.partitions)) {
      return fail(ErrorCode::invalid_setting, shown(text) + " is not a power of two, for example 256, 1024 or 4096");
    }
    settings.partitions = candidate.partitions;
    return {};
  };
  return def;
}

void add_ring_wide(Rows& rows) {
  rows.push_back(partitions_setting());
  rows.push_back(choice_setting(
      {"partition_by",
       "What decides which peer owns a URL: its host, its registered domain, or the whole URL. Fixed when the ring is "
       "made.",
       "By host, one peer asks a host, fetches its robots.txt once, and most links stay with the peer. By domain more "
       "links stay, and shares are less even. By URL shares are even, but nearly all links go to other peers, and each "
       "request waits for the host's lease (docs/inside/lab-partition.md)."},
      &Settings::partition_by, PartitionBy::host, {"host", "domain", "url"}));
  rows.push_back(choice_setting(
      {"scope",
       "Which URLs belong to the crawl: those with a seed's host, its registered domain, its path prefix, or any.",
       "Without a scope the crawl never ends; opt in explicitly."},
      &Settings::scope, ScopeKind::host, {"host", "domain", "prefix", "any"}));
  add_scope_settings(rows);
  rows.push_back(duration_setting({"delay", "Minimum time between two requests to one host, anywhere in the ring.",
                                   "Site owners accept one request per second; 0s is for your own servers."},
                                  &Settings::delay, "1s", "0s", "24h"));
  rows.push_back(
      duration_setting({"max_crawl_delay", "A longer Crawl-delay of a robots.txt counts as this long.",
                        "Some files mean milliseconds. Some mean \"go away\", which is what Disallow is for."},
                       &Settings::max_crawl_delay, "5m", "0s", "24h"));
  rows.push_back(count_setting(
      {"delay_factor", "A host is left alone for this many times as long as its last answer took; 0: not counted.",
       "With 5 a slow host spends at most a sixth of its time on the crawl. With `delay` 0s it is not counted."},
      &Settings::delay_factor, 5U, 0U, 100U));
  rows.push_back(duration_setting(
      {"max_delay", "Maximum delay that results from `delay_factor`, status 429 or 503, and rising latency.",
       "A page every half minute burdens no host. Crawl-delay and Retry-After may exceed it."},
      &Settings::max_delay, "30s", "0s", "24h"));
  rows.push_back(duration_setting(
      {"address_delay",
       "Time between the beginnings of two requests to the same IP address, anywhere in the ring, whatever their "
       "hosts. Never more than the delay of the first one's host.",
       "Four per second: a machine that serves a thousand hosts is still one machine. 0s: addresses do not count."},
      &Settings::address_delay, "250ms", "0s", "24h"));
  rows.push_back(list_setting({"sites", "Settings of single sites, such as `*.example.org delay=5s hours=22:00-06:00`.",
                               "None: all sites are treated alike."},
                              &Settings::sites, "HOST or *.HOST, then delay=, factor=, hours=FROM-TO (UTC)",
                              check_site));
  rows.push_back(count_setting(
      {"replicas",
       "Copies of every URL's record. With 2, each write is on its owner and one other peer before it counts.",
       "With 2, any one machine and its disk may be lost forever. 3 survives two such losses; 1 saves the cost of "
       "copies."},
      &Settings::replicas, 2U, 1U, 3U));
  rows.push_back(choice_setting(
      {"on_cut",
       "During a network split (a cut): every side continues with what it can see, or a side without a majority "
       "pauses.",
       "Continuing fetches some pages on both sides. Pausing fetches none twice, but the smaller side idles."},
      &Settings::on_cut, OnCut::continue_, {"continue", "pause-minority"}));
  rows.push_back(duration_setting(
      {"presume_dead_after",
       "A peer that is down for this long is presumed gone for good: with replicas, the crawl may end without it.",
       "Longer than a reboot. A network split that lasts longer ends the crawl on each side separately."},
      &Settings::presume_dead_after, "5m", "0s", "30d"));
  rows.push_back(
      yes_no_setting({"stop_when_done", "Every peer stops when nothing is left to fetch anywhere in the ring.",
                      "A peer that was started alone waits for seeds; `orbweaver crawl` turns this on."},
                     &Settings::stop_when_done, false));
  rows.push_back(count_setting(
      {"max_redirects", "Redirects followed from one URL; each is a link that is admitted like any other.",
       "Browsers stop at 20 (Fetch standard, HTTP-redirect fetch)."},
      &Settings::max_redirects, 20U, 0U, 100U));
  rows.push_back(
      count_setting({"max_retries", "Further tries after a failure that may pass, such as a timeout or status 503.",
                     "With doubling waits, three tries outlast the usual restart of a server."},
                    &Settings::max_retries, 3U, 0U, 100U));
  rows.push_back(duration_setting({"retry_delay", "Wait before the first further try; it doubles with each.",
                                   "Long enough for a server to recover, short enough for a small crawl to end soon."},
                                  &Settings::retry_delay, "5s", "0s", "24h"));
  rows.push_back(text_setting(
      {"user_agent", "The User-Agent header: product token, version, and where to complain.",
       "The token before '/' is what robots.txt files name (RFC 9309, 2.2.1). `contact` is appended."},
      &Settings::user_agent, "orbweaver/0.1", "a token of letters, _ and - first; visible ASCII", check_user_agent));
  rows.push_back(text_setting(
      {"contact", "A page or mail address where people can complain; the User-Agent header ends in (+CONTACT).",
       "Site owners must be able to reach you. Without it no public address is connected to, unless `user_agent` "
       "itself names one."},
      &Settings::contact, "", "an http(s) URL or a mail address", contact_problem));
  rows.push_back(yes_no_setting({"robots", "Obey robots.txt.", "Polite by default; `no` is for your own sites."},
                                &Settings::robots, true));
  rows.push_back(yes_no_setting({"obey_nofollow",
                                 "Leave out links marked `rel=nofollow`, and all links of a page whose robots tags "
                                 "(meta or X-Robots-Tag) say `nofollow`.",
                                 "The mark is about ranking, not about access; robots.txt is for that."},
                                &Settings::obey_nofollow, false));
  rows.push_back(yes_no_setting(
      {"obey_noindex",
       "A page whose robots tags say `noindex` is fetched and its links are followed. Its body is neither archived nor "
       "written as text.",
       "The owner asks that no one keeps it for search. Set `no` where the law or the owner permits archiving."},
      &Settings::obey_noindex, true));
  rows.push_back(yes_no_setting(
      {"keep_validators", "Keep the ETag or Last-Modified of each page, so that `orbweaver recrawl` asks for changes.",
       "About 30 bytes per page on disk. Without them a later visit transfers every page again."},
      &Settings::keep_validators, true));
  rows.push_back(choice_setting(
      {"sitemaps",
       "Sitemaps and feeds as sources of links. off: none. robots: those that a robots.txt names, and any that links "
       "lead to. well_known: also /sitemap.xml and /sitemap_index.xml of hosts whose robots.txt names none.",
       "An owner lists pages to be found, often pages without links. Guessing costs each host without a sitemap two "
       "requests for nothing. Needs `robots = yes`, because robots.txt names them."},
      &Settings::sitemaps, SitemapUse::robots, {"off", "robots", "well_known"}));
  add_order_settings(rows);
  add_canonical_settings(rows);
  add_link_settings(rows);
  for (SettingDef& def : rows) def.row.ring_wide = true;
}

void add_peer(Rows& rows) {
  rows.push_back(
      text_setting({"listen", "Address and port for other peers; port 0: any free one.",
                    "Loopback, because without a ring key any user who reaches the port can speak to the peer."},
                   &Settings::listen, "127.0.0.1:0", "ADDR:PORT", check_listen));
  rows.push_back(text_setting({"advertise", "The address at which others reach this peer; empty: the listen address.",
                               "Needed behind address translation, or when listening on every interface."},
                              &Settings::advertise, "", "HOST:PORT", check_advertise));
  rows.push_back(list_setting(
      {"join", "Members of the ring to join; one that answers is enough.", "None: this peer starts a ring."},
      &Settings::join, "HOST:PORT each", check_peer_address));
  rows.push_back(text_setting({"ring_key_file",
                               "File with the secret that the ring's peers share, readable by its owner only. Empty: "
                               "this peer stays on loopback, and every user of the machine may command it.",
                               "A file, so that the secret is in no process list."},
                              &Settings::ring_key_file, "", "a path", anything));
  rows.push_back(
      count_setting({"capacity", "This peer's weight on the ring; one with 200 owns twice as much as one with 100.",
                     "100 is an ordinary peer, so that weights read as per cent."},
                    &Settings::capacity, 100U, 1U, 10'000U));
  rows.push_back(
      count_setting({"workers", "Threads that parse pages and write archives; one more reads the large ones.",
                     "The streaming parser needs only one; more pay off with `text` or `parser = \"tidy\"`."},
                    &Settings::workers, 1U, 1U, 256U));
}

void add_output(Rows& rows) {
  rows.push_back(choice_setting(
      {"archive", "Write WARC files, one gzip member per record, or nothing.", "Most crawls are made for an archive."},
      &Settings::archive, ArchiveKind::gzip, {"off", "gzip"}));
  rows.push_back(count_setting({"archive_level", "Compression level of the archive, on libdeflate's scale.",
                                "Level 1 takes half the CPU of 6 for 8 % more bytes on documentation pages; a crawl "
                                "spends most of its CPU on the archive."},
                               &Settings::archive_level, 1U, 1U, 12U));
  rows.push_back(
      size_setting({"max_archive_file_bytes", "A WARC file that has reached this size is closed and a new one begun.",
                    "The WARC standard recommends 1 GB (ISO 28500, annex C)."},
                   &Settings::max_archive_file_bytes, "1GiB", "64KiB", "1TiB"));
  rows.push_back(
      choice_setting({"parser", "Where links come from: the streaming tokenizer, or the tree that tidy-html5 builds.",
                      "The tokenizer takes a fraction of the tree's CPU time and finds the same links."},
                     &Settings::parser, ParserKind::stream, {"stream", "tidy"}));
  rows.push_back(yes_no_setting(
      {"text", "Also write title, language and clean text of each page, one JSON line per page.",
       "It reads each page a second time, and guesses its language (docs/how-to/corpus.md has the cost)."},
      &Settings::text, false));
  rows.push_back(
      yes_no_setting({"record_links", "Also record every link of every page, in files that `orbweaver lab` replays.",
                      "For measuring caches, partition schemes and link graphs. It takes at most a few per cent of a "
                      "crawl's CPU time."},
                     &Settings::record_links, false));
  rows.push_back(size_setting(
      {"max_link_trace_bytes",
       "With `record_links`: when this peer's link traces reach this size the oldest is removed.",
       "About 100 million links, at ten bytes each. They are kept in eight files, each with room for a block."},
      &Settings::max_link_trace_bytes, "1GiB", size_text(storage::trace_bytes_least), "1TiB"));
}

void add_fetch(Rows& rows) {
  rows.push_back(list_setting(
      {"resolve", "Connect to ADDR for requests to HOST and PORT, instead of asking the DNS; HOST * is every host.",
       "For tests, and for sites that have no name yet."},
      &Settings::resolve, "HOST:PORT:ADDR each; IPv6 in brackets", check_resolve));
  rows.push_back(list_setting({"allow_private", "Private, loopback or link-local ranges that may be fetched from.",
                               "None: otherwise any page could make the crawler ask machines of the inner network. "
                               "Judged by the address that is connected to."},
                              &Settings::allow_private, "ADDRESS/BITS each", check_cidr));
  rows.push_back(count_setting(
      {"max_fetches", "Transfers in flight at the same time.",
       "Each takes a file descriptor and about 100 KB; 256 fill a fast line and fit into 1,024 descriptors."},
      &Settings::max_fetches, 256U, 1U, 10'000U));
  rows.push_back(duration_setting({"connect_timeout", "Time for name, connection and TLS handshake.",
                                   "Two lost SYN packets are made up for within 7 s (RFC 6298: 1 s, doubled)."},
                                  &Settings::connect_timeout, "10s", "10ms", "10m"));
  rows.push_back(duration_setting(
      {"fetch_timeout", "Time for a whole exchange, connection included.",
       "For 64 MiB it requires half a MiB/s. Without it, a server that never ends holds its transfer forever."},
      &Settings::fetch_timeout, "2m", "100ms", "24h"));
  rows.push_back(size_setting(
      {"low_speed_bytes", "Bytes per second; a transfer that stays below for `low_speed_time` is abandoned.",
       "No honest server is slower for that long; servers that drip bytes to hold a crawler are."},
      &Settings::low_speed_bytes, "512B", "0B", "1GiB"));
  rows.push_back(duration_setting({"low_speed_time", "How long a transfer may stay below `low_speed_bytes`.",
                                   "Computed pages may take this long to their first byte."},
                                  &Settings::low_speed_time, "20s", "1s", "1h"));
  rows.push_back(size_setting({"max_body_bytes", "A longer body is cut here, and the record says so.",
                               "Bodies are held in memory until they are archived; a longer body is rarely a page."},
                              &Settings::max_body_bytes, "64MiB", "1KiB", "4GiB"));
  rows.push_back(size_setting({"max_decoded_bytes", "At most this much is unpacked from a compressed body.",
                               "A gzip bomb grows a thousandfold; a page does not grow beyond this."},
                              &Settings::max_decoded_bytes, "64MiB", "1KiB", "4GiB"));
  rows.push_back(size_setting({"max_body_memory",
                               "Bodies in flight together; when it is reached, transfers wait. Not given: the whole "
                               "share of `max_memory`, which it never exceeds.",
                               "Room for four of the largest bodies, or for 256 of 1 MiB."},
                              &Settings::max_body_memory, "256MiB", "1MiB", "1TiB"));
  rows.push_back(size_setting({"max_header_bytes", "Longer response headers are refused.",
                               "Servers stop at 8 to 64 KiB; four times that leaves room for cookies without end."},
                              &Settings::max_header_bytes, "256KiB", "1KiB", "16MiB"));
}

void add_names(Rows& rows) {
  rows.push_back(list_setting(
      {"dns_servers", "Name servers to ask, in this order; none: those of /etc/resolv.conf.",
       "The system's servers know the inner network's names. A resolver of your own spares them a crawl's load."},
      &Settings::dns_servers, "ADDR or ADDR:PORT each; IPv6 in brackets before a port", check_dns_server));
  rows.push_back(
      duration_setting({"dns_timeout", "Wait for a name server's answer; the second and last try has twice as long.",
                        "Two tries end within `connect_timeout`; resolvers answer within half a second or not at all."},
                       &Settings::dns_timeout, "2s", "10ms", "1m"));
  rows.push_back(
      duration_setting({"min_dns_ttl", "Addresses are kept at least this long, whatever their records say.",
                        "A TTL of 0 would cost two queries per page; browsers keep addresses for half a minute."},
                       &Settings::min_dns_ttl, "30s", "0s", "1h"));
  rows.push_back(duration_setting({"max_dns_ttl", "Addresses are kept at most this long.",
                                   "A day: a site that moved is found again, whatever its records said before."},
                                  &Settings::max_dns_ttl, "24h", "1s", "30d"));
  rows.push_back(duration_setting(
      {"max_dns_negative_ttl", "Maximum time to cache a negative answer (the zone may set less).",
       "RFC 2308, 5: hours do harm when a name appears; minutes spare the servers repeated questions."},
      &Settings::max_dns_negative_ttl, "5m", "0s", "3h"));
  rows.push_back(count_setting({"max_dns_cache_entries", "Hosts whose addresses are remembered.",
                                "Six times the hosts on the workbench; about 150 bytes each, 10 MB in total."},
                               &Settings::max_dns_cache_entries, 65'536U, 1U, 16'777'216U));
  rows.push_back(
      count_setting({"max_dns_queries", "DNS queries in flight together, and so to any one server.",
                     "At 20 ms each, 3,200 queries or 1,600 hosts per second. Public resolvers throttle heavier use."},
                    &Settings::max_dns_queries, 64U, 2U, 10'000U));
}

void add_protocol(Rows& rows) {
  rows.push_back(
      choice_setting({"http_version", "HTTP/2 where TLS agrees on it (auto), HTTP/1.1 only, or HTTP/2 without asking.",
                      "ALPN costs nothing; HTTP/2 without TLS is only for servers known to speak it."},
                     &Settings::http_version, HttpVersion::automatic, {"auto", "1.1", "2"}));
  rows.push_back(choice_setting({"min_tls", "The lowest version of TLS.",
                                 "1.0 and 1.1 are withdrawn (RFC 8996); a site that has nothing newer fails as `tls`."},
                                &Settings::min_tls, TlsMin::tls_1_2, {"1.2", "1.3"}));
  rows.push_back(choice_setting(
      {"tls_verify",
       "What to do with a certificate that is expired, for another name, self-signed or from an unknown authority. "
       "refuse: the page fails with that reason. record: it is fetched, and its record names the fault.",
       "An archive of the web as it is may need `record`. Choose `refuse` if you trust what pages say."},
      &Settings::tls_verify, TlsVerify::refuse, {"refuse", "record"}));
  rows.push_back(text_setting({"ca_file", "Certificates of the trusted authorities, PEM; empty: the system's.",
                               "For sites of an inner network, whose authority is known only there."},
                              &Settings::ca_file, "", "a path", anything));
  rows.push_back(
      text_setting({"proxy", "All requests go through this proxy, which also looks up the names; empty: directly.",
                    "Some networks have no other way out. Only the proxy's address can be judged then (see "
                    "`allow_private`); the proxy decides what it may reach. Needs a `contact`."},
                   &Settings::proxy, "", "http:// or socks5h://, [USER:PASSWORD@]HOST:PORT", check_proxy));
  rows.push_back(choice_setting(
      {"cookies",
       "Cookies that sites set: ignored, or kept in the store and sent back to the site until they expire, or the "
       "crawl ends. A site is a host; with `partition_by = domain` it is a registered domain.",
       "Without them every page looks as it does to a first visitor, which suits an archive. Some sites show nothing "
       "without them."},
      &Settings::cookies, Cookies::off, {"off", "crawl"}));
  rows.push_back(
      list_setting({"site_headers",
                    "Header lines for one site's requests, such as a password. They are sent to that host and port "
                    "only, and removed from archives. A bare host means https; write http://HOST where it has no TLS.",
                    "Best in the settings file, which other users cannot read; they can read a command line."},
                   &Settings::site_headers, "HOST[:PORT] Name: value each", check_site_header));
}

void add_forwarding(Rows& rows) {
  rows.push_back(
      count_setting({"max_link_cache_entries",
                     "Recently forwarded or admitted URLs to remember; a hit costs no message and no disk read.",
                     "Links repeat within a site: 65,536 entries of 40 bytes are 2.6 MB. 0: no cache."},
                    &Settings::max_link_cache_entries, 65'536U, 0U, 16'777'216U));
  rows.push_back(count_setting({"max_batch_records", "Maximum number of URLs in a batch; a full batch leaves at once.",
                                "At about 100 bytes per URL this is 100 KB, which makes the cost of a message small."},
                               &Settings::max_batch_records, 1024U, 1U,
                               static_cast<std::uint32_t>(ring::max_batch_records)));
  rows.push_back(size_setting({"max_batch_bytes", "Maximum size of a batch; a full batch leaves at once.",
                               "Small compared with the largest message of 8 MiB. Half of that is the bound, so that "
                               "the last record fits too."},
                              &Settings::max_batch_bytes, "256KiB", "1KiB", size_text(ring::max_message_bytes / 2)));
  rows.push_back(
      duration_setting({"max_batch_age", "A batch leaves at this age even when it is not full.",
                        "Short compared with the delay between two requests to a host, so that no host waits for it."},
                       &Settings::max_batch_age, "100ms", "0s", "1m"));
  rows.push_back(count_setting({"max_batches_in_flight", "Batches sent to one peer and not yet acknowledged.",
                                "Four hide the round trip; more only fill the queues of a slow peer."},
                               &Settings::max_batches_in_flight, 4U, 1U, 1024U));
  rows.push_back(duration_setting(
      {"batch_timeout",
       "A batch that is not acknowledged by then is sent again, and later at longer intervals: up to four times this.",
       "Far longer than a durable write on a busy disk. Sending twice does no harm, only work."},
      &Settings::batch_timeout, "5s", "100ms", "10m"));
  rows.push_back(count_setting(
      {"max_outbox_records_in_memory", "URLs for one peer that are kept in memory; more wait on disk only.",
       "64 batches ahead, about 8 MB for each peer: a slow peer costs disk, not memory."},
      &Settings::max_outbox_records_in_memory, 65'536U, 1U, 16'777'216U));
}

void add_frontier_and_storage(Rows& rows) {
  rows.push_back(
      count_setting({"max_hosts_in_memory", "Hosts on the workbench; further hosts wait on disk.",
                     "Forty times the transfers in flight, so that enough hosts are ready whatever their delay."},
                    &Settings::max_hosts_in_memory, 10'000U, 1U, 10'000'000U));
  rows.push_back(count_setting({"max_host_queue_in_memory", "URLs of one host that are kept ready in memory.",
                                "A minute's work at the usual delay; 10,000 hosts hold at most about 100 MB."},
                               &Settings::max_host_queue_in_memory, 64U, 1U, 100'000U));
  rows.push_back(choice_setting(
      {"durability", "What a committed write survives: the end of the process, or a power cut too.",
       "Under power a page counts when its record in the archive, its line of text and its outcome are synced to the "
       "disk, which costs milliseconds; workers share syncs. Under process a power cut may take the last pages."},
      &Settings::durability, Durability::process, {"process", "power"}));
  rows.push_back(size_setting(
      {"min_free_disk",
       "A peer asks for no page while its disk has less free than this, and goes on when it has a quarter more. 0B: "
       "512 MiB, or a fiftieth of the disk if that is less. 1B: never.",
       "A full disk ends the peer, and other programs on the machine fail with it."},
      &Settings::min_free_disk, "0B", "0B", "16TiB"));
  rows.push_back(
      size_setting({"max_storage_memory",
                    "RocksDB's block cache. Not given: its whole share of `max_memory`, which it never exceeds.",
                    "Holds the index and the hot blocks of about 20 million URLs."},
                   &Settings::max_storage_memory, "64MiB", "1MiB", "1TiB"));
}

void add_membership(Rows& rows) {
  rows.push_back(choice_setting({"network",
                                 "How far apart the peers are: one site (lan), several (wan), or one machine (local). "
                                 "It sets `probe_every`, `probe_timeout` and `suspicion_time`, unless they are given.",
                                 "`lan` has the defaults below. `wan` has 2s, 1s, 30s, for long ways, losses and short "
                                 "splits. `local` has 200ms, 100ms, 3s."},
                                &Settings::network, ring::NetworkPreset::lan, {"lan", "wan", "local"}));
  rows.push_back(duration_setting({"probe_every", "How often one other peer is probed, each in turn.",
                                   "SWIM's protocol period: gossip spreads within O(log N) of these."},
                                  &Settings::probe_every, "500ms", "10ms", "1m"));
  rows.push_back(
      duration_setting({"probe_timeout", "A probe that is not answered by then is repeated through other peers.",
                        "Longer than nearly every way around the world. Less than `probe_every`, because the way "
                        "through others must fit in too."},
                       &Settings::probe_timeout, "300ms", "5ms", "1m"));
  rows.push_back(duration_setting(
      {"suspicion_time",
       "A peer that does not answer for this long, as others confirm, is down, and others own its partitions.",
       "Longer than a restart or a pause of a busy machine; moving partitions costs more than waiting."},
      &Settings::suspicion_time, "10s", "100ms", "1h"));
  rows.push_back(duration_setting(
      {"leave_timeout",
       "A peer that leaves stops after this time, with exit code 6, if it still has something to hand over: the ring "
       "waits for that until the peer is started again.",
       "Handing over a million URLs takes seconds; a ring that accepts nothing for this long will not accept it "
       "later."},
      &Settings::leave_timeout, "10m", "0s", "7d"));
}

SettingDef log_level_setting() {
  const std::vector<std::string> names{"debug", "info", "warning", "error"};
  const auto get = [names](const Settings& settings) {
    const auto found = std::find(names.begin(), names.end(), settings.log_level);
    return found == names.end() ? std::size_t{1} : static_cast<std::size_t>(found - names.begin());
  };
  const auto put = [names](Settings& settings, std::size_t at) { settings.log_level = names.at(at); };
  return choice_setting(
      {"log_level", "The lowest level that is logged.", "A few lines per minute; debug has one for each page."}, get,
      put, 1, names);
}

void add_observation(Rows& rows) {
  rows.push_back(
      text_setting({"status_listen",
                    "Where the dashboard, /metrics, /healthz, /status and the control API are served over HTTP; `off`: "
                    "nowhere.",
                    "Loopback, because what is sent is not encrypted; port 0: any free one."},
                   &Settings::status_listen, "127.0.0.1:0", "ADDR:PORT or off", check_status_listen));
  rows.push_back(log_level_setting());
  rows.push_back(
      size_setting({"max_log_file_bytes", "A log file that has reached this size is closed and a new one begun.",
                    "Opens in any editor."},
                   &Settings::max_log_file_bytes, "16MiB", "4KiB", "16GiB"));
  rows.push_back(count_setting(
      {"max_log_files", "Closed log files that are kept.", "128 MiB in total, which is weeks at the level info."},
      &Settings::max_log_files, 8U, 1U, 1000U));
}

Rows make_rows() {
  Rows rows;
  add_ring_wide(rows);
  add_peer(rows);
  add_output(rows);
  add_text_command_settings(rows);
  add_own_order_settings(rows);
  add_fetch(rows);
  add_limit_settings(rows);
  add_names(rows);
  add_protocol(rows);
  add_forwarding(rows);
  add_frontier_and_storage(rows);
  add_seen_settings(rows);
  add_membership(rows);
  add_observation(rows);
  add_notify_settings(rows);
  return rows;
}

}  // namespace

const std::vector<GoneSetting>& gone_settings() {
  static const std::vector<GoneSetting> gone = {
      {"link_cache",
       "the link cache is LRU, as it was by default; take the line or flag out (`orbweaver lab cache` compares "
       "clock and random)"}};
  return gone;
}

const std::vector<SettingDef>& setting_defs() {
  static const Rows rows = make_rows();
  return rows;
}

}  // namespace orbweaver
