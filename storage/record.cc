#include "storage/record.h"

#include <algorithm>
#include <tuple>

#include "storage/byte_reader.h"

namespace orbweaver::storage {

namespace {

int rank(const UrlRecord& record) {
  switch (record.state) {
    case UrlState::excluded:
      return record.reason == Reason::depth || record.reason == Reason::trap ? 0 : 2;
    case UrlState::queued:
      return 1;
    case UrlState::failed:
      return 3;
    case UrlState::fetched:
      return 4;
  }
  return 0;
}

// The finaliser of MurmurHash3 (Appleby, public domain): every bit of the input moves every bit of the output.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdull;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return value ^ (value >> 33);
}

// Reasons from here on say why robots.txt could not be fetched: this plus that reason's number.
constexpr std::uint8_t robots_causes = 64;

// Flags of a long record: which fields it has.
constexpr std::uint8_t off_site_field = 1, score_field = 2, visit_field = 4, lastmod_field = 8, validator_field = 16,
                       not_before_field = 32, sitemap_visit_field = 64, unknown_fields = 128;

std::uint8_t fields_of(const UrlRecord& record) {
  return static_cast<std::uint8_t>(
      (record.off_site > 0 ? off_site_field : 0) | (record.score > 0 ? score_field : 0) |
      (record.visit > 0 ? visit_field : 0) | (record.lastmod != Time{} ? lastmod_field : 0) |
      (record.validator.empty() ? 0 : validator_field) | (record.not_before != Time{} ? not_before_field : 0) |
      (record.sitemap_visit > 0 ? sitemap_visit_field : 0));
}

void put_fields(const UrlRecord& record, std::uint8_t fields, std::string& out) {
  put_be(out, fields);
  if ((fields & off_site_field) != 0) put_be(out, record.off_site);
  if ((fields & score_field) != 0) put_be(out, record.score);
  if ((fields & visit_field) != 0) put_be(out, record.visit);
  if ((fields & lastmod_field) != 0) put_time(record.lastmod, out);
  if ((fields & validator_field) != 0) {
    const std::string_view validator = std::string_view(record.validator).substr(0, max_validator_bytes);
    put_be(out, static_cast<std::uint8_t>(validator.size()));
    out.append(validator);
  }
  if ((fields & not_before_field) != 0) put_time(record.not_before, out);
  if ((fields & sitemap_visit_field) != 0) put_be(out, record.sitemap_visit);
}

// Takes them from the front; something must remain, the URL. False: they are malformed.
bool get_fields(std::string_view& bytes, UrlRecord& record) {
  ByteReader reader(bytes);
  std::uint8_t fields = 0;
  if (!reader.take_some(fields) || (fields & unknown_fields) != 0) return false;
  if ((fields & off_site_field) != 0 && (!reader.take_some(record.off_site) || record.off_site > max_off_site))
    return false;
  if ((fields & score_field) != 0 && !reader.take_some(record.score)) return false;
  if ((fields & visit_field) != 0 && !reader.take_some(record.visit)) return false;
  if ((fields & lastmod_field) != 0 && !reader.take_some(record.lastmod)) return false;
  if ((fields & validator_field) != 0) {
    std::uint8_t size = 0;
    if (!reader.take_some(size) || size > max_validator_bytes || bytes.size() <= size) return false;
    record.validator = bytes.substr(0, size);
    // It goes into a request's header.
    if (!std::all_of(record.validator.begin(), record.validator.end(), [](char c) { return c >= ' ' && c <= '~'; }))
      return false;
    bytes.remove_prefix(size);
  }
  if ((fields & not_before_field) != 0 && !reader.take_some(record.not_before)) return false;
  if ((fields & sitemap_visit_field) != 0 && !reader.take_some(record.sitemap_visit)) return false;
  return !bytes.empty();
}

auto parts(const UrlRecord& r) {
  return std::tie(r.since, r.reason, r.status, r.depth, r.steps, r.attempts, r.url, r.off_site, r.visit, r.lastmod,
                  r.validator, r.score, r.not_before, r.sitemap_visit);
}

}  // namespace

std::string_view reason_name(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "none";
    case Reason::robots:
      return "robots";
    case Reason::depth:
      return "depth";
    case Reason::redirects:
      return "redirects";
    case Reason::robots_unreachable:
      return "robots_unreachable";
    case Reason::trap:
      return "trap";
    case Reason::budget:
      return "budget";
    case Reason::noindex:
      return "noindex";
    case Reason::content_type:
      return "content_type";
    case Reason::bad_port:
      return "bad_port";
    case Reason::operator_block:
      return "operator";
    case Reason::http_status:
      return "http_status";
    case Reason::dns:
      return "dns";
    case Reason::connect:
      return "connect";
    case Reason::tls:
      return "tls";
    case Reason::timeout:
      return "timeout";
    case Reason::empty_reply:
      return "empty_reply";
    case Reason::broken:
      return "broken";
    case Reason::headers_too_large:
      return "headers_too_large";
    case Reason::address_refused:
      return "address_refused";
    case Reason::bad_response:
      return "bad_response";
    case Reason::tls_expired:
      return "tls_expired";
    case Reason::tls_wrong_name:
      return "tls_wrong_name";
    case Reason::tls_self_signed:
      return "tls_self_signed";
    case Reason::tls_untrusted:
      return "tls_untrusted";
    case Reason::host_down:
      return "host_down";
    case Reason::crashes_crawler:
      return "crashes_crawler";
    case Reason::links_over_budget:
      return "links_over_budget";
    case Reason::internal:
      return "internal";
    case Reason::address_denied:
      return "address_denied";
    case Reason::no_contact:
      return "no_contact";
    case Reason::robots_dns:
      return "robots_dns";
    case Reason::robots_connect:
      return "robots_connect";
    case Reason::robots_tls:
      return "robots_tls";
    case Reason::robots_timeout:
      return "robots_timeout";
    case Reason::robots_empty_reply:
      return "robots_empty_reply";
    case Reason::robots_broken:
      return "robots_broken";
    case Reason::robots_headers_too_large:
      return "robots_headers_too_large";
    case Reason::robots_bad_response:
      return "robots_bad_response";
    case Reason::robots_internal:
      return "robots_internal";
    case Reason::robots_tls_expired:
      return "robots_tls_expired";
    case Reason::robots_tls_wrong_name:
      return "robots_tls_wrong_name";
    case Reason::robots_tls_self_signed:
      return "robots_tls_self_signed";
    case Reason::robots_tls_untrusted:
      return "robots_tls_untrusted";
  }
  return unknown_name;
}

Reason robots_reason(Reason cause) {
  const auto own = static_cast<Reason>(robots_causes + static_cast<std::uint8_t>(cause));
  return cause != Reason::none && robots_cause(own) == cause ? own : Reason::robots_unreachable;
}

Reason robots_cause(Reason reason) {
  const auto number = static_cast<std::uint8_t>(reason);
  if (reason == Reason::robots_unreachable) return Reason::http_status;
  if (number < robots_causes || reason_name(reason) == unknown_name) return Reason::none;
  return static_cast<Reason>(number - robots_causes);
}

std::string_view state_name(UrlState state) {
  switch (state) {
    case UrlState::queued:
      return "queued";
    case UrlState::excluded:
      return "excluded";
    case UrlState::failed:
      return "failed";
    case UrlState::fetched:
      return "fetched";
  }
  return "unknown";
}

UrlRecord before_fetch(UrlRecord record) {
  record.validator.clear();  // an answer "not modified" would bring none of the links
  if (record.state == UrlState::queued) return record;
  record.state = UrlState::queued;
  record.reason = Reason::none;
  record.status = 0;
  record.since = Time{};
  record.not_before = Time{};
  record.fetched_here = false;
  return record;
}

UrlRecord merge(const UrlRecord& a, const UrlRecord& b) {
  if (a.visit != b.visit) return a.visit > b.visit ? a : b;
  if (rank(a) != rank(b)) return rank(a) > rank(b) ? a : b;
  if (a.state != UrlState::queued) return parts(a) < parts(b) ? b : a;
  UrlRecord joined = a;
  joined.reason = std::max(a.reason, b.reason);
  joined.depth = std::min(a.depth, b.depth);
  joined.steps = std::min(a.steps, b.steps);
  joined.off_site = std::min(a.off_site, b.off_site);
  joined.attempts = std::max(a.attempts, b.attempts);
  joined.status = std::max(a.status, b.status);
  joined.since = std::max(a.since, b.since);
  joined.score = std::max(a.score, b.score);
  joined.lastmod = std::max(a.lastmod, b.lastmod);
  joined.validator = std::max(a.validator, b.validator);
  joined.not_before = std::max(a.not_before, b.not_before);
  joined.sitemap_visit = std::max(a.sitemap_visit, b.sitemap_visit);
  return joined;
}

void encode_record(const UrlRecord& record, std::string& out) {
  out.reserve(out.size() + record_head_bytes + record.url.size());
  const std::uint8_t fields = fields_of(record);
  put_be(out, fields > 0 ? long_record_format : record_format);
  put_be(out, static_cast<std::uint8_t>(record.state));
  put_be(out, static_cast<std::uint8_t>(record.reason));
  put_be(out, record.depth);
  put_be(out, record.steps);
  put_be(out, record.attempts);
  put_be(out, record.status);
  put_time(record.since, out);
  if (fields > 0) put_fields(record, fields, out);
  out.append(record.url);
}

Result<UrlRecord> decode_record(std::string_view bytes) {
  if (bytes.size() <= record_head_bytes)
    return fail(ErrorKind::corrupt, "a URL record of " + std::to_string(bytes.size()) + " bytes");
  const auto format = get_be<std::uint8_t>(bytes, 0);
  if (format != record_format && format != long_record_format)
    return fail(ErrorKind::version, "a URL record of format " + std::to_string(format));
  UrlRecord record;
  const auto state = get_be<std::uint8_t>(bytes, 1);
  if (state < 1 || state > 4) return fail(ErrorKind::corrupt, "a URL record in state " + std::to_string(state));
  record.state = static_cast<UrlState>(state);
  record.reason = static_cast<Reason>(get_be<std::uint8_t>(bytes, 2));
  record.depth = get_be<std::uint16_t>(bytes, 3);
  record.steps = get_be<std::uint8_t>(bytes, 5);
  record.attempts = get_be<std::uint8_t>(bytes, 6);
  record.status = get_be<std::uint16_t>(bytes, 7);
  record.since = Time(Duration(static_cast<std::int64_t>(get_be<std::uint64_t>(bytes, 9))));
  bytes.remove_prefix(record_head_bytes);
  if (format == long_record_format && !get_fields(bytes, record))
    return fail(ErrorKind::corrupt, "a URL record whose fields cannot be read");
  record.url = bytes;
  return record;
}

std::uint64_t record_digest(const std::array<std::uint8_t, 16>& url_digest, const UrlRecord& record) {
  const std::string_view url(reinterpret_cast<const char*>(url_digest.data()), url_digest.size());
  const std::uint64_t small = std::uint64_t{static_cast<std::uint8_t>(record.state)} << 56 |
                              std::uint64_t{static_cast<std::uint8_t>(record.reason)} << 48 |
                              std::uint64_t{record.steps} << 40 | std::uint64_t{record.attempts} << 32 |
                              std::uint64_t{record.depth} << 16 | record.status;
  std::uint64_t digest = 0;
  if (fields_of(record) > 0) {
    std::string fields;
    put_fields(record, fields_of(record), fields);
    fields.resize((fields.size() + 7) / 8 * 8);
    for (std::size_t at = 0; at < fields.size(); at += 8) digest = mix(digest ^ get_be<std::uint64_t>(fields, at));
  }
  for (const std::uint64_t word : {get_be<std::uint64_t>(url, 0), get_be<std::uint64_t>(url, 8), small,
                                   static_cast<std::uint64_t>(record.since.time_since_epoch().count())})
    digest = mix(digest ^ word);
  return digest;
}

WireKind wire_kind(std::string_view bytes) {
  if (bytes.empty()) return WireKind::unknown;
  const auto format = static_cast<std::uint8_t>(bytes[0]);
  if (format == long_record_format) return WireKind::record;
  if (format == used_wait_format) return WireKind::wait;
  const auto kind = static_cast<WireKind>(format);
  return kind == WireKind::record || kind == WireKind::wait || kind == WireKind::robots ||
                 kind == WireKind::last_access_unknown || kind == WireKind::cookies || kind == WireKind::use
             ? kind
             : WireKind::unknown;
}

}  // namespace orbweaver::storage
