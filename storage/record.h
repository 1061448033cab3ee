// One URL's record, its bytes, and merge:
// the one operation that forwarding, hand-off, restart and healing share.
//
// Records of the same URL form a join-semilattice. A later visit supersedes an earlier one (a URL is queued again after
// its end, to see what has changed: docs/how-to/recrawl.md). Within one visit a rank orders the states:
//   excluded for now (depth, trap) < queued < excluded for good < failed < fetched
// The higher rank wins. Two queued records are joined part by part: the smaller depth, number of steps and number of
// hops off-site, the larger number of attempts and score, the later not_before and lastmod. Of two others of equal rank
// the later one wins, then the larger bytes. So merge is commutative, associative and idempotent: copies may come late,
// twice, in any order (tests/unit/merge_test.cc). Thread rule: values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "storage/types.h"

namespace orbweaver::storage {

// Numbers are on disk and on the wire: append only.
enum class UrlState : std::uint8_t { queued = 1, excluded = 2, failed = 3, fetched = 4 };

// Why a record is in its state. Numbers are on disk and on the wire: append only.
enum class Reason : std::uint8_t {
  none = 0,
  robots = 1,     // excluded: robots.txt disallows it
  depth = 2,      // excluded for now: deeper than max_depth; a shorter way to it queues it
  redirects = 3,  // excluded: reached only after more than max_redirects steps
  // excluded: robots.txt was answered with `status` (0: the status is unknown), which disallows all (RFC 9309,
  // 2.3.1.4)
  robots_unreachable = 4,
  trap = 6,          // excluded for now: suspected by a trap rule beyond the host's trap_budget (docs/how-to/traps.md)
  budget = 7,        // excluded: the host's or the domain's pages or bytes are spent
  noindex = 8,       // fetched, but not kept: the page asked for that
  content_type = 9,  // excluded: fetched, and the response's type is not wanted
  bad_port = 10,     // excluded: the port is another protocol's (node/url/bad_ports.h, setting allow_ports)
  operator_block = 11,  // excluded: an operator has blocked the host
  http_status = 16,     // failed: the server answered with `status`, for the last time
  dns = 17,             // failed: from here on as FetchError
  connect = 18,
  tls = 19,
  timeout = 20,
  empty_reply = 21,
  broken = 22,
  headers_too_large = 23,
  address_refused = 24,
  bad_response = 25,
  host_down = 26,  // failed: its host did not answer ten times in a row
  internal = 27,
  // failed: it was being processed when the process ended uncleanly, twice in a row (node/process/in_flight.h)
  crashes_crawler = 48,
  links_over_budget = 49,  // fetched, but not all of its links were taken: more than max_link_bytes, or too many
  // failed; or fetched, where faults of certificates are only recorded (tls_verify)
  tls_expired = 40,
  tls_wrong_name = 41,
  tls_self_signed = 42,
  tls_untrusted = 43,
  address_denied = 50,  // failed: its address is in deny_addresses; address_refused are private ones
  no_contact = 51,      // failed: its address is public, and no contact is set for people whose sites are crawled
  // excluded: robots.txt could not be fetched, which disallows all. The number is 64 plus that of the cause.
  robots_dns = 81,
  robots_connect = 82,
  robots_tls = 83,
  robots_timeout = 84,
  robots_empty_reply = 85,
  robots_broken = 86,
  robots_headers_too_large = 87,
  robots_bad_response = 89,
  robots_internal = 91,
  robots_tls_expired = 104,
  robots_tls_wrong_name = 105,
  robots_tls_self_signed = 106,
  robots_tls_untrusted = 107,
};
inline constexpr std::string_view unknown_name = "unknown";
std::string_view reason_name(Reason reason);  // "robots", "http_status"; unknown_name: there is no such reason
// The reason that excludes a host's pages when its robots.txt ended so: robots_dns for dns, robots_unreachable for
// http_status and others. And back: http_status for robots_unreachable; none for other reasons.
Reason robots_reason(Reason cause);
Reason robots_cause(Reason reason);
std::string_view state_name(UrlState state);  // "queued"

struct UrlRecord {
  UrlState state = UrlState::queued;
  Reason reason = Reason::none;
  std::uint16_t depth = 0;    // links from a seed; the target of a step has its source's depth
  std::uint8_t steps = 0;     // steps in a row that led here and were not links: a redirect, to a requisite of a page,
                              // from a sitemap's index to a sitemap
  std::uint8_t attempts = 0;  // tries that failed so far
  std::uint16_t status = 0;   // HTTP status of the last answer, 0 when none
  Time since{};               // when it entered this state; the epoch: it is queued, or the time is unknown
  std::string url;            // canonical text
  std::uint8_t off_site = 0;  // consecutive links out of scope that led here: 0 in scope, else at most max_off_site
  std::uint16_t visit = 0;    // how often it was queued again after its end
  Time lastmod{};             // of a link on a sitemap of a later visit: the page's last change, it says; else epoch
  // The server's validator for conditional requests (RFC 9110, 8.8): an ETag, which begins with " or W/, or else a
  // Last-Modified; up to max_validator_bytes, in ASCII.
  std::string validator{};
  std::uint16_t score = 0;  // under order = best (docs/how-to/orders.md): the highest that any link gave; else 0
  Time not_before{};        // queued: no request before this time; the epoch: any time
  std::uint16_t sitemap_visit = 0;  // with lastmod: the sitemap's visit that reported it
  bool fetched_here = false;        // by the peer whose disk this is: on that disk only, and of no weight in merge

  bool operator==(const UrlRecord&) const = default;
};
inline constexpr std::uint8_t max_off_site = 15;
inline constexpr std::size_t max_validator_bytes = 127;

// A page as it was before its last fetch, or to be visited again as if it had not been: what another peer is sent while
// the page's links may be here alone.
UrlRecord before_fetch(UrlRecord record);

// The join of two records of the same URL.
UrlRecord merge(const UrlRecord& a, const UrlRecord& b);

// Bytes of a record on the wire and in the outbox, version 1:
//   u8 format=1, u8 state, u8 reason, u16 depth, u8 steps, u8 attempts, u16 status, i64 since (us since the epoch),
//   rest: URL. Big-endian.
// A record with more fields has format 9, and before the URL u8 fields, the sum of those that follow, in this order:
//   1: u8 hops off-site, 1 to max_off_site; 2: u16 score, not 0; 4: u16 visit, not 0; 8: i64 lastmod (us), not 0;
//   16: u8 bytes, validator; 32: i64 not_before (us), not 0; 64: u16 sitemap_visit, not 0
inline constexpr std::uint8_t record_format = 1;
inline constexpr std::uint8_t long_record_format = 9;
inline constexpr std::size_t record_head_bytes = 17;
void encode_record(const UrlRecord& record, std::string& out);  // appends
Result<UrlRecord> decode_record(std::string_view bytes);

// Equal for two records of the same URL exactly when these are (but for a chance of 2^-64). It covers the URL's digest,
// not its text. Sums over a partition show whether copies differ: the order of additions does not matter.
std::uint64_t record_digest(const std::array<std::uint8_t, 16>& url_digest, const UrlRecord& record);

// No host waits longer, whatever a peer or a row on disk says.
inline constexpr Duration max_host_wait{std::chrono::hours{24}};

// A host's clock travels with its partition. On disk, version 3: u8 format=11, i64 next_allowed (us since the epoch),
// u32 wait (ms, rounded up), u32 failures, u32 pace (ms), rest: host. With usage counted for a budget: u8 format=12, as
// before, u64 pages, u64 bytes, rest: host.
struct HostClock {
  Time next_allowed{};         // no request to the host before this; see until()
  std::uint32_t failures = 0;  // consecutive tries without an answer
  std::string host;
  Duration pace{};          // the wait requested by 429 or 503 (node/crawl/host_pacing.h); whole ms, up to 49 days
  std::uint64_t pages = 0;  // answered, and their bytes as received; counted only when a host has a budget
  std::uint64_t bytes = 0;
  Duration wait = max_host_wait;  // next_allowed was at most this long ahead when it was set
  // Until when the host waits. No longer than it was to wait at first: the clock may have been set back since.
  Time until(Time now) const { return std::min(next_allowed, now + wait); }
  bool used() const { return pages > 0 || bytes > 0; }
  bool operator==(const HostClock&) const = default;
};
// Takes the later time, the longer wait and the larger numbers.
HostClock merge(const HostClock& a, const HostClock& b);
inline constexpr std::uint8_t clock_format = 11;
inline constexpr std::uint8_t used_clock_format = 12;
void encode_clock(const HostClock& clock, std::string& out);  // appends
Result<HostClock> decode_clock(std::string_view bytes);

// The robots.txt of an origin.
struct RobotsEntry {
  Time fetched{};  // when the server last answered; the epoch: it never did
  Time expires{};
  std::uint8_t kind = 0;  // node/robots/robots_fetch.h numbers them
  std::string body{};
  Time unreachable_since{};     // the first vain request to a server that never answered; else the epoch
  Reason cause = Reason::none;  // why it is unreachable
  std::uint16_t status = 0;     // unreachable: HTTP status of the last answer, 0 when none
  bool operator==(const RobotsEntry&) const = default;
};
// Takes the entry with the later known time, then the larger one: two entries of one origin join as records do.
RobotsEntry merge(const RobotsEntry& a, const RobotsEntry& b);
// On disk: u8 kind, i64 expires, u8 fields, the sum of those that follow, in this order, rest: body. Times in us since
// the epoch.
//   1: i64 fetched, not 0; 2: i64 unreachable_since, not 0; 4: u8 cause, u16 status, not both 0
void encode_stored_robots(const RobotsEntry& robots, std::string& out);  // appends
Result<RobotsEntry> decode_stored_robots(std::string_view bytes);

// The cookies of a site: of a host, or of a registered domain. What `jar` holds, storage does not know
// (node/http/cookie_jar.h). A site without cookies may have a row that says so, for older copies elsewhere.
struct SiteCookies {
  std::string site;           // its name
  std::uint64_t version = 0;  // rises with each change; microseconds since the epoch, or more
  Time expires{};             // after that nothing in it counts, and the row may go
  std::string jar;
  bool operator==(const SiteCookies&) const = default;
};
// Takes the later version as a whole; of two with the same version the larger bytes.
SiteCookies merge(const SiteCookies& a, const SiteCookies& b);
// On disk: u64 version, i64 expires (us since the epoch), u16 bytes of the site, the site, rest: the jar. On the wire:
// u8 format=13, then the same. A cookie's end is a time of the server's, so it travels as a time.
void encode_stored_cookies(const SiteCookies& cookies, std::string& out);  // appends
Result<SiteCookies> decode_stored_cookies(std::string_view bytes);
void encode_cookies(const SiteCookies& cookies, std::string& out);  // appends
Result<SiteCookies> decode_cookies(std::string_view bytes);

// What was taken of a registered domain, under its budgets.
struct SiteUse {
  std::string site;         // its name
  std::uint64_t pages = 0;  // answered
  std::uint64_t bytes = 0;  // of them, as received
  bool operator==(const SiteUse&) const = default;
};
// Takes the larger numbers.
SiteUse merge(const SiteUse& a, const SiteUse& b);
// On disk: u64 pages, u64 bytes, rest: the site. On the wire: u8 format=14, then the same.
void encode_stored_use(const SiteUse& use, std::string& out);  // appends
Result<SiteUse> decode_stored_use(std::string_view bytes);
void encode_use(const SiteUse& use, std::string& out);  // appends
Result<SiteUse> decode_use(std::string_view bytes);

// On the wire waits and robots.txt files give times relative to now, so different clocks do no harm: travel time only
// makes a wait longer.
//   wait:   u8 format=3, i64 us until next_allowed (0: none), u32 failures, u32 pace (ms), rest: host
//           or u8 format=8, as before, u64 pages, u64 bytes, rest: host
//   robots: u8 format=10, u8 kind, i64 us until it expires, u8 fields, those fields as on disk, but the us that
//           have passed in place of a time, u16 bytes of origin, origin, rest: body
//   last_access_unknown: u8 format=5, i64 us since the sender began to hold the partition without knowing when its
//           hosts were last asked (a restart, a take-over): no host is asked before its delay has
//           passed since then
inline constexpr std::uint8_t used_wait_format = 8;
enum class WireKind : std::uint8_t {
  record = record_format,
  wait = 3,
  robots = 10,
  last_access_unknown = 5,
  cookies = 13,
  use = 14,
  unknown = 0
};
WireKind wire_kind(std::string_view bytes);
void encode_wait(const HostClock& clock, Time now, std::string& out);  // appends
Result<HostClock> decode_wait(std::string_view bytes, Time now);
void encode_last_access_unknown(Time since, Time now, std::string& out);  // appends
Result<Time> decode_last_access_unknown(std::string_view bytes, Time now);
void encode_robots(std::string_view origin, const RobotsEntry& robots, Time now, std::string& out);  // appends
Result<std::pair<std::string, RobotsEntry>> decode_robots(std::string_view bytes, Time now);

}  // namespace orbweaver::storage
