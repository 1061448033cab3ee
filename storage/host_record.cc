// The records of a host: its clock, its robots.txt files, its cookies; and a domain's use.
#include <algorithm>
#include <tuple>

#include "storage/byte_reader.h"
#include "storage/record.h"

namespace orbweaver::storage {

namespace {

// A peer's mistake must not cause a wait of years: longer durations are cut to a day.
constexpr Duration max_wire_duration = max_host_wait;

Duration wire_duration(std::uint64_t micros) {
  return Duration(static_cast<std::int64_t>(std::min(micros, static_cast<std::uint64_t>(max_wire_duration.count()))));
}
Duration wire_duration(std::string_view bytes, std::size_t at) {
  return wire_duration(get_be<std::uint64_t>(bytes, at));
}

// On the wire; a stored one has four bytes more after its time.
constexpr std::size_t wait_head_bytes = 17;
constexpr std::size_t used_wait_head_bytes = wait_head_bytes + 16;
constexpr std::size_t clock_time_bytes = 9;

std::uint32_t whole_ms(std::chrono::milliseconds duration) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(duration.count(), 0, 0xffffffff));
}
std::uint32_t pace_in_ms(const HostClock& clock) {
  return whole_ms(std::chrono::duration_cast<std::chrono::milliseconds>(clock.pace));
}

// The fields after the time in a clock and in a wait.
void put_rest(const HostClock& clock, std::string& out) {
  put_be(out, clock.failures);
  put_be(out, pace_in_ms(clock));
  if (clock.used()) {
    put_be(out, clock.pages);
    put_be(out, clock.bytes);
  }
  out.append(clock.host);
}

bool get_rest(std::string_view bytes, bool used, HostClock& clock) {
  const std::size_t head = used ? used_wait_head_bytes : wait_head_bytes;
  if (bytes.size() <= head) return false;
  clock.failures = get_be<std::uint32_t>(bytes, 9);
  clock.pace = std::chrono::milliseconds{get_be<std::uint32_t>(bytes, 13)};
  clock.host = bytes.substr(head);
  if (!used) return true;
  clock.pages = get_be<std::uint64_t>(bytes, 17);
  clock.bytes = get_be<std::uint64_t>(bytes, 25);
  return clock.used();
}

// Flags of a robots.txt entry: which fields it has.
constexpr std::uint8_t fetched_field = 1, unreachable_field = 2, cause_field = 4, unknown_robots_fields = 0xf8;

// `put_moment` writes a time in the form of the disk or of the wire.
template <class PutMoment>
void put_robots_fields(const RobotsEntry& robots, std::string& out, PutMoment put_moment) {
  const auto fields = static_cast<std::uint8_t>((robots.fetched != Time{} ? fetched_field : 0) |
                                                (robots.unreachable_since != Time{} ? unreachable_field : 0) |
                                                (robots.cause != Reason::none || robots.status > 0 ? cause_field : 0));
  put_be(out, fields);
  if ((fields & fetched_field) != 0) put_moment(robots.fetched);
  if ((fields & unreachable_field) != 0) put_moment(robots.unreachable_since);
  if ((fields & cause_field) == 0) return;
  put_be(out, static_cast<std::uint8_t>(robots.cause));
  put_be(out, robots.status);
}

// Takes them from the front. False: they are malformed.
template <class TakeMoment>
bool get_robots_fields(std::string_view& bytes, RobotsEntry& robots, TakeMoment take_moment) {
  ByteReader reader(bytes);
  std::uint8_t fields = 0;
  if (!reader.take(fields) || (fields & unknown_robots_fields) != 0) return false;
  if ((fields & fetched_field) != 0 && !take_moment(reader, robots.fetched)) return false;
  if ((fields & unreachable_field) != 0 && !take_moment(reader, robots.unreachable_since)) return false;
  if ((fields & cause_field) == 0) return true;
  std::uint8_t cause = 0;
  if (!reader.take(cause) || !reader.take(robots.status)) return false;
  robots.cause = static_cast<Reason>(cause);
  return cause != 0 || robots.status != 0;
}

// The time of its present state.
Time known_since(const RobotsEntry& robots) { return std::max(robots.fetched, robots.unreachable_since); }

auto parts(const RobotsEntry& r) {
  return std::tuple(known_since(r), r.expires, r.kind, std::string_view(r.body), r.cause, r.status, r.fetched,
                    r.unreachable_since);
}

}  // namespace

HostClock merge(const HostClock& a, const HostClock& b) {
  return {std::max(a.next_allowed, b.next_allowed),
          std::max(a.failures, b.failures),
          std::max(a.host, b.host),
          std::max(a.pace, b.pace),
          std::max(a.pages, b.pages),
          std::max(a.bytes, b.bytes),
          std::max(a.wait, b.wait)};
}

RobotsEntry merge(const RobotsEntry& a, const RobotsEntry& b) { return parts(a) < parts(b) ? b : a; }

void encode_stored_robots(const RobotsEntry& robots, std::string& out) {
  put_be(out, robots.kind);
  put_time(robots.expires, out);
  put_robots_fields(robots, out, [&out](Time time) { put_time(time, out); });
  out.append(robots.body);
}

Result<RobotsEntry> decode_stored_robots(std::string_view bytes) {
  const std::size_t size = bytes.size();
  ByteReader reader(bytes);
  RobotsEntry robots;
  if (!reader.take(robots.kind) || !reader.take(robots.expires) ||
      !get_robots_fields(bytes, robots, [](ByteReader& from, Time& time) { return from.take_some(time); }))
    return fail(ErrorKind::corrupt, "a stored robots.txt of " + std::to_string(size) + " bytes");
  robots.body = bytes;
  return robots;
}

void encode_clock(const HostClock& clock, std::string& out) {
  put_be(out, clock.used() ? used_clock_format : clock_format);
  put_be(out, static_cast<std::uint64_t>(clock.next_allowed.time_since_epoch().count()));
  put_be(out, whole_ms(std::chrono::ceil<std::chrono::milliseconds>(clock.wait)));
  put_rest(clock, out);
}

Result<HostClock> decode_clock(std::string_view bytes) {
  const std::size_t size = bytes.size();
  const auto bad = [size] { return fail(ErrorKind::corrupt, "a host's clock of " + std::to_string(size) + " bytes"); };
  const int format = bytes.empty() ? 0 : static_cast<std::uint8_t>(bytes[0]);
  if ((format != clock_format && format != used_clock_format) || size < clock_time_bytes + 4) return bad();
  HostClock clock;
  clock.next_allowed = Time(Duration(static_cast<std::int64_t>(get_be<std::uint64_t>(bytes, 1))));
  clock.wait =
      std::min<Duration>(std::chrono::milliseconds{get_be<std::uint32_t>(bytes, clock_time_bytes)}, max_host_wait);
  bytes.remove_prefix(4);  // what follows stands as in a wait
  return get_rest(bytes, format == used_clock_format, clock) ? Result<HostClock>(std::move(clock)) : bad();
}

void encode_wait(const HostClock& clock, Time now, std::string& out) {
  put_be(out, clock.used() ? used_wait_format : static_cast<std::uint8_t>(WireKind::wait));
  put_be(out, static_cast<std::uint64_t>(std::max(clock.until(now) - now, Duration{}).count()));
  put_rest(clock, out);
}

Result<HostClock> decode_wait(std::string_view bytes, Time now) {
  HostClock clock;
  if (wire_kind(bytes) != WireKind::wait ||
      !get_rest(bytes, static_cast<std::uint8_t>(bytes[0]) == used_wait_format, clock))
    return fail(ErrorKind::corrupt, "a host's wait of " + std::to_string(bytes.size()) + " bytes");
  clock.wait = wire_duration(bytes, 1);
  clock.next_allowed = now + clock.wait;
  return clock;
}

void encode_last_access_unknown(Time since, Time now, std::string& out) {
  put_be(out, static_cast<std::uint8_t>(WireKind::last_access_unknown));
  put_be(out, static_cast<std::uint64_t>(std::max(now - since, Duration{}).count()));
}

Result<Time> decode_last_access_unknown(std::string_view bytes, Time now) {
  if (bytes.size() != 9 || wire_kind(bytes) != WireKind::last_access_unknown)
    return fail(ErrorKind::corrupt, "a time of holding of " + std::to_string(bytes.size()) + " bytes");
  return now - wire_duration(bytes, 1);
}

SiteCookies merge(const SiteCookies& a, const SiteCookies& b) {
  return std::tie(a.version, a.jar, a.expires) < std::tie(b.version, b.jar, b.expires) ? b : a;
}

void encode_stored_cookies(const SiteCookies& cookies, std::string& out) {
  put_be(out, cookies.version);
  put_time(cookies.expires, out);
  put_be(out, static_cast<std::uint16_t>(cookies.site.size()));
  out.append(cookies.site).append(cookies.jar);
}

Result<SiteCookies> decode_stored_cookies(std::string_view bytes) {
  const std::size_t size = bytes.size();
  ByteReader reader(bytes);
  SiteCookies cookies;
  std::uint16_t site = 0;
  if (!reader.take(cookies.version) || !reader.take(cookies.expires) || !reader.take(site) || site == 0 ||
      bytes.size() < site)
    return fail(ErrorKind::corrupt, "a site's cookies of " + std::to_string(size) + " bytes");
  cookies.site = bytes.substr(0, site);
  cookies.jar = bytes.substr(site);
  return cookies;
}

void encode_cookies(const SiteCookies& cookies, std::string& out) {
  put_be(out, static_cast<std::uint8_t>(WireKind::cookies));
  encode_stored_cookies(cookies, out);
}

Result<SiteCookies> decode_cookies(std::string_view bytes) {
  if (wire_kind(bytes) != WireKind::cookies)
    return fail(ErrorKind::corrupt, "a site's cookies of " + std::to_string(bytes.size()) + " bytes");
  return decode_stored_cookies(bytes.substr(1));
}

SiteUse merge(const SiteUse& a, const SiteUse& b) {
  return {a.site, std::max(a.pages, b.pages), std::max(a.bytes, b.bytes)};
}

void encode_stored_use(const SiteUse& use, std::string& out) {
  put_be(out, use.pages);
  put_be(out, use.bytes);
  out.append(use.site);
}

Result<SiteUse> decode_stored_use(std::string_view bytes) {
  const std::size_t size = bytes.size();
  ByteReader reader(bytes);
  SiteUse use;
  if (!reader.take(use.pages) || !reader.take(use.bytes) || bytes.empty())
    return fail(ErrorKind::corrupt, "a domain's use of " + std::to_string(size) + " bytes");
  use.site = bytes;
  return use;
}

void encode_use(const SiteUse& use, std::string& out) {
  put_be(out, static_cast<std::uint8_t>(WireKind::use));
  encode_stored_use(use, out);
}

Result<SiteUse> decode_use(std::string_view bytes) {
  if (wire_kind(bytes) != WireKind::use)
    return fail(ErrorKind::corrupt, "a domain's use of " + std::to_string(bytes.size()) + " bytes");
  return decode_stored_use(bytes.substr(1));
}

void encode_robots(std::string_view origin, const RobotsEntry& robots, Time now, std::string& out) {
  const auto put_duration = [&out](Duration duration) {
    put_be(out, static_cast<std::uint64_t>(std::max(duration, Duration{}).count()));
  };
  put_be(out, static_cast<std::uint8_t>(WireKind::robots));
  put_be(out, robots.kind);
  put_duration(robots.expires - now);
  put_robots_fields(robots, out, [&](Time time) { put_duration(now - time); });
  put_be(out, static_cast<std::uint16_t>(origin.size()));
  out.append(origin).append(robots.body);
}

Result<std::pair<std::string, RobotsEntry>> decode_robots(std::string_view bytes, Time now) {
  const auto bad = [size = bytes.size()] {
    return fail(ErrorKind::corrupt, "a robots.txt of " + std::to_string(size) + " bytes");
  };
  if (wire_kind(bytes) != WireKind::robots) return bad();
  bytes.remove_prefix(1);
  ByteReader reader(bytes);
  const auto take_duration = [](ByteReader& from, Duration& duration) {
    std::uint64_t micros = 0;
    if (!from.take(micros)) return false;
    duration = wire_duration(micros);
    return true;
  };
  const auto take_moment = [&](ByteReader& from, Time& time) {
    Duration ago{};
    if (!take_duration(from, ago)) return false;
    time = now - ago;
    return true;
  };
  RobotsEntry entry;
  Duration left{};
  std::uint16_t origin = 0;
  if (!reader.take(entry.kind) || !take_duration(reader, left) || !get_robots_fields(bytes, entry, take_moment) ||
      !reader.take(origin) || bytes.size() < origin)
    return bad();
  entry.expires = now + left;
  entry.body = bytes.substr(origin);
  return std::pair(std::string(bytes.substr(0, origin)), std::move(entry));
}

}  // namespace orbweaver::storage
