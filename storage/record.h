// What is known of one URL: the record, its bytes, and merge: the one operation that forwarding, hand-off, restart and
// healing share.
//
// Records of the same URL form a join-semilattice. A later visit (a URL is queued again after its end, to see what has
// changed: docs/how-to/recrawl.md) knows more than an earlier one. Of the same visit a rank orders what is known:
//   excluded for now (depth, trap) < queued < excluded for good < failed < fetched
// The higher rank wins. Between two queued records each part is joined for itself: the lesser depth, the lesser number
// of steps and of hops off-site, the larger number of attempts and score, the later not_before and lastmod. Between two
// others of equal rank the later one wins, then the larger bytes. So merge is commutative, associative and idempotent:
// copies may come late, twice, in any order (tests/unit/merge_test.cc). Thread rule: values.
#pragma once

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
  redirects = 3,  // excluded: at the end of more than max_redirects steps
  // excluded: robots.txt was answered with `status` (0: nothing is known of that), which disallows all (RFC 9309,
  // 2.3.1.4)
  robots_unreachable = 4,
  trap = 6,          // excluded for now: suspected by a trap rule beyond the host's trap_budget (docs/how-to/traps.md)
  budget = 7,        // excluded: the host's or the domain's pages or bytes are spent
  noindex = 8,       // fetched, but not kept: the page asked for that
  content_type = 9,  // excluded: fetched, and the response's type is not wanted
  bad_port = 10,     // excluded: the port is another protocol's (node/url/bad_ports.h, setting allow_ports)
  http_status = 16,  // failed: the server answered with `status`, for the last time
  dns = 17,          // failed: from here on as FetchError
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
  // failed: it was at work at two ends of the process in a row that were not clean (node/process/in_flight.h)
  crashes_crawler = 48,
  links_over_budget = 49,  // fetched, but not all of its links were taken: more than max_link_bytes, or too many
  // failed; or fetched, where faults of certificates are only recorded (tls_verify)
  tls_expired = 40,
  tls_wrong_name = 41,
  tls_self_signed = 42,
  tls_untrusted = 43,
  address_denied = 50,  // failed: its address is in deny_addresses; address_refused are private ones
  no_contact = 51,      // failed: its address is public, and no contact is set for people whose sites are crawled
  // excluded: robots.txt could not be had, which disallows all, and why: 64 and the number of that reason
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
std::string_view reason_name(Reason reason);  // "robots", "http_status"
// What the pages of a host are excluded as whose robots.txt ended so: robots_dns for dns, robots_unreachable for
// http_status and what has none of its own. And back: http_status for robots_unreachable; none when it is not one.
Reason robots_reason(Reason cause);
Reason robots_cause(Reason reason);
std::string_view state_name(UrlState state);  // "queued"

struct UrlRecord {
  UrlState state = UrlState::queued;
  Reason reason = Reason::none;
  std::uint16_t depth = 0;    // links from a seed; what a step leads to has its source's depth
  std::uint8_t steps = 0;     // in a row that led here and were not links: a redirect, to a requisite of a page, from a
                              // sitemap's index to a sitemap
  std::uint8_t attempts = 0;  // tries that failed so far
  std::uint16_t status = 0;   // HTTP status of the last answer, 0 when none
  Time since{};               // when it came into this state; the epoch: it is queued, or not known
  std::string url;            // canonical text
  std::uint8_t off_site = 0;  // links in a row that led here out of scope: 0 in scope, else at most off_site_max
  std::uint16_t visit = 0;    // how often it was queued again after it had ended
  Time lastmod{};             // of a link on a sitemap of a later visit: when the page changed, it says; else the epoch
  // What the server gave to ask whether it has changed (RFC 9110, 8.8): an ETag, which begins with " or W/, or else a
  // Last-Modified; up to validator_bytes_max, in ASCII.
  std::string validator{};
  std::uint16_t score = 0;  // under order = best (docs/how-to/orders.md): the highest that was told of it; else 0
  Time not_before{};        // queued: it is not to be asked for before this time; the epoch: at any
  std::uint16_t sitemap_visit = 0;  // with lastmod: which visit of the sitemap says it

  bool operator==(const UrlRecord&) const = default;
};
inline constexpr std::uint8_t off_site_max = 15;
inline constexpr std::size_t validator_bytes_max = 127;

// The join of two records of the same URL.
UrlRecord merge(const UrlRecord& a, const UrlRecord& b);

// Bytes of a record on the wire and in the outbox, version 1:
//   u8 format=1, u8 state, u8 reason, u16 depth, u8 steps, u8 attempts, u16 status, i64 since (us since the epoch),
//   rest: URL. Big-endian.
// A record with more has format 9, and before the URL u8 fields, the sum of those that follow, in this order:
//   1: u8 hops off-site, 1 to off_site_max; 2: u16 score, not 0; 4: u16 visit, not 0; 8: i64 lastmod (us), not 0;
//   16: u8 bytes, validator; 32: i64 not_before (us), not 0; 64: u16 sitemap_visit, not 0
inline constexpr std::uint8_t record_format = 1;
inline constexpr std::uint8_t long_record_format = 9;
inline constexpr std::size_t record_head_bytes = 17;
void encode_record(const UrlRecord& record, std::string& out);  // appends
Result<UrlRecord> decode_record(std::string_view bytes);

// Two records of the same URL are equal exactly when these are (but for a chance of 2^-64); the URL's digest goes in,
// its text does not. Sums of these over a partition tell copies that differ: the order of additions does not matter.
std::uint64_t record_digest(const std::array<std::uint8_t, 16>& url_digest, const UrlRecord& record);

// A host's clock travels with its partition. On disk, version 2: u8 format=6, i64 next_allowed (us since the epoch),
// u32 failures, u32 pace (ms), rest: host. With what was used of a budget: u8 format=7, as before, u64 pages, u64
// bytes, rest: host.
struct HostClock {
  Time next_allowed{};         // no request to the host before this
  std::uint32_t failures = 0;  // tries in a row that got no answer
  std::string host;
  Duration pace{};  // the wait that it has asked for by 429 or 503 (node/crawl/host_pacing.h); whole ms, up to 49 days
  std::uint64_t pages = 0;  // answered, and their bytes as received; counted only when a host has a budget
  std::uint64_t bytes = 0;
  bool used() const { return pages > 0 || bytes > 0; }
  bool operator==(const HostClock&) const = default;
};
// The later time, the larger numbers.
HostClock merge(const HostClock& a, const HostClock& b);
inline constexpr std::uint8_t clock_format = 6;
inline constexpr std::uint8_t used_clock_format = 7;
void encode_clock(const HostClock& clock, std::string& out);  // appends
Result<HostClock> decode_clock(std::string_view bytes);

// What is known of an origin's robots.txt.
struct RobotsEntry {
  Time fetched{};  // when the server last answered; the epoch: it never did
  Time expires{};
  std::uint8_t kind = 0;  // node/robots/robots_fetch.h numbers them
  std::string body{};
  Time unreachable_since{};     // when it was first asked for in vain, of a server that never answered; else the epoch
  Reason cause = Reason::none;  // out of reach: why
  std::uint16_t status = 0;     // out of reach: HTTP status of the last answer, 0 when none
  bool operator==(const RobotsEntry&) const = default;
};
// The one that is known of later, then the larger: the two of one origin join like records do.
RobotsEntry merge(const RobotsEntry& a, const RobotsEntry& b);
// On disk: u8 kind, i64 expires, u8 fields, the sum of those that follow, in this order, rest: body. Times in us since
// the epoch.
//   1: i64 fetched, not 0; 2: i64 unreachable_since, not 0; 4: u8 cause, u16 status, not both 0
void encode_stored_robots(const RobotsEntry& robots, std::string& out);  // appends
Result<RobotsEntry> decode_stored_robots(std::string_view bytes);

// On the wire both tell times from now on, so that clocks that differ do no harm: the way only makes a wait longer.
//   wait:   u8 format=3, i64 us until next_allowed (0: none), u32 failures, u32 pace (ms), rest: host
//           or u8 format=8, as before, u64 pages, u64 bytes, rest: host
//   robots: u8 format=10, u8 kind, i64 us until it expires, u8 fields, those fields as on disk, but the us that
//           have passed in place of a time, u16 bytes of origin, origin, rest: body
//   last_access_unknown: u8 format=5, i64 us since the sender began to hold the partition without knowing when its
//   hosts were last
//           asked (a restart, a take-over): no host is asked before its delay has passed since then
inline constexpr std::uint8_t used_wait_format = 8;
enum class WireKind : std::uint8_t {
  record = record_format,
  wait = 3,
  robots = 10,
  last_access_unknown = 5,
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
