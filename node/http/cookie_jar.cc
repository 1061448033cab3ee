#include "node/http/cookie_jar.h"

#include <algorithm>
#include <vector>

#include "node/settings/cidr.h"
#include "node/url/registrable_domain.h"

namespace orbweaver {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The number that the text begins with, if it has between `least` and `most` digits.
std::optional<int> leading_number(std::string_view text, std::size_t least, std::size_t most) {
  std::size_t n = 0;
  int value = 0;
  while (n < text.size() && is_digit(text[n])) {
    if (++n > most) return std::nullopt;
    value = value * 10 + (text[n - 1] - '0');
  }
  return n < least ? std::nullopt : std::optional<int>(value);
}

struct Clock {
  int hour;
  int minute;
  int second;
};

std::optional<Clock> clock_of(std::string_view token) {
  const std::size_t first = token.find(':');
  const std::size_t second = first == std::string_view::npos ? first : token.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto hours = leading_number(token.substr(0, first), 1, 2);
  const auto minutes = leading_number(token.substr(first + 1, second - first - 1), 1, 2);
  const auto seconds = leading_number(token.substr(second + 1), 1, 2);
  if (!hours || !minutes || !seconds) return std::nullopt;
  return Clock{*hours, *minutes, *seconds};
}

std::optional<unsigned> month_of(std::string_view token) {
  constexpr std::string_view months = "janfebmaraprmayjunjulaugsepoctnovdec";
  const std::string word = lower(token.substr(0, 3));
  if (word.size() < 3) return std::nullopt;
  const std::size_t at = months.find(word);
  if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
  return static_cast<unsigned>(at / 3 + 1);
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

// RFC 6265, 5.1.1: delimiter.
bool is_delimiter(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u == 0x09 || (u >= 0x20 && u <= 0x2f) || (u >= 0x3b && u <= 0x40) || (u >= 0x5b && u <= 0x60) ||
         (u >= 0x7b && u <= 0x7e);
}

// RFC 6265, 5.1.3.
bool domain_matches(std::string_view host, std::string_view domain) {
  if (host == domain) return true;
  return host.size() > domain.size() && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.' &&
         !parse_ip(host);
}

// RFC 6265, 5.1.4.
bool path_matches(std::string_view path, std::string_view cookie_path) {
  if (!path.starts_with(cookie_path)) return false;
  return path.size() == cookie_path.size() || cookie_path.ends_with('/') || path[cookie_path.size()] == '/';
}

std::string default_path(std::string_view path) {
  const std::size_t last = path.rfind('/');
  return last == std::string_view::npos || last == 0 ? "/" : std::string(path.substr(0, last));
}

// Hosts below a public suffix belong to different owners; there, a name one label longer is itself a registered domain.
bool is_public_suffix(const std::string& domain) {
  return registrable_domain("x." + domain) != registrable_domain(domain);
}

// Flags of a stored cookie.
constexpr std::uint8_t host_only_flag = 1, secure_flag = 2, expires_flag = 4;

void put(std::uint64_t value, std::size_t bytes, std::string& out) {
  for (std::size_t i = bytes; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}
bool take(std::string_view& from, std::size_t bytes, std::uint64_t& value) {
  if (from.size() < bytes) return false;
  value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<std::uint8_t>(from[i]);
  from.remove_prefix(bytes);
  return true;
}

void put_time(Time time, std::string& out) { put(static_cast<std::uint64_t>(time.time_since_epoch().count()), 8, out); }
bool take_time(std::string_view& from, Time& time) {
  std::uint64_t value = 0;
  if (!take(from, 8, value)) return false;
  time = Time(Duration(static_cast<std::int64_t>(value)));
  return true;
}

// A part of a cookie is shorter than max_cookie_bytes, or than a URL's path (64 KiB).
void put_text(const std::string& text, std::string& out) {
  put(text.size(), 2, out);
  out.append(text);
}
// What is sent to a server must not contain a line end.
bool take_text(std::string_view& from, std::string& text) {
  std::uint64_t size = 0;
  if (!take(from, 2, size) || from.size() < size) return false;
  text = from.substr(0, size);
  from.remove_prefix(size);
  return std::none_of(text.begin(), text.end(), is_control);
}

}  // namespace

std::optional<Time> parse_cookie_date(std::string_view text) {
  std::optional<Clock> time;
  std::optional<int> day;
  std::optional<unsigned> month;
  std::optional<int> year;
  while (!text.empty()) {
    const auto begin = std::find_if_not(text.begin(), text.end(), is_delimiter);
    text.remove_prefix(static_cast<std::size_t>(begin - text.begin()));
    const auto end = std::find_if(text.begin(), text.end(), is_delimiter);
    const std::string_view token = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(token.size());
    if (token.empty()) continue;
    if (!time && (time = clock_of(token))) continue;
    if (!day && (day = leading_number(token, 1, 2))) continue;
    if (!month && (month = month_of(token))) continue;
    if (!year) year = leading_number(token, 2, 4);
  }
  if (!time || !day || !month || !year) return std::nullopt;
  if (*year >= 70 && *year <= 99) *year += 1900;
  if (*year >= 0 && *year <= 69) *year += 2000;
  if (*year < 1601 || time->hour > 23 || time->minute > 59 || time->second > 59) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{*month},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return Time(std::chrono::duration_cast<Duration>(std::chrono::sys_days(date).time_since_epoch() +
                                                   std::chrono::hours(time->hour) + std::chrono::minutes(time->minute) +
                                                   std::chrono::seconds(time->second)));
}

bool CookieJar::take(const UrlPlace& place, std::string_view set_cookie, Time now) {
  if (set_cookie.size() > max_cookie_bytes) return false;
  if (std::any_of(set_cookie.begin(), set_cookie.end(), is_control)) return false;  // RFC 6265bis, 5.6
  const std::string_view pair = set_cookie.substr(0, set_cookie.find(';'));
  std::string_view rest = set_cookie.substr(pair.size());
  const std::size_t equals = pair.find('=');
  if (equals == std::string_view::npos) return false;
  Cookie cookie;
  cookie.name = trimmed(pair.substr(0, equals));
  cookie.value = trimmed(pair.substr(equals + 1));
  if (cookie.name.empty()) return false;
  cookie.domain = place.host;
  cookie.path = default_path(place.path);
  cookie.created = now;
  std::optional<Time> max_age;
  std::string domain;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view attribute = rest.substr(0, rest.find(';'));
    rest.remove_prefix(attribute.size());
    const std::size_t sign = attribute.find('=');
    const std::string name = lower(trimmed(attribute.substr(0, sign)));
    const std::string_view value =
        sign == std::string_view::npos ? std::string_view() : trimmed(attribute.substr(sign + 1));
    if (name == "secure") cookie.secure = true;
    if (name == "expires")
      if (const auto date = parse_cookie_date(value)) cookie.expires = date;
    if (name == "max-age" && !value.empty()) {
      const std::string_view digits = value.front() == '-' ? value.substr(1) : value;
      if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) continue;
      const int seconds = value.front() == '-' ? 0 : leading_number(digits, 1, 9).value_or(999'999'999);
      max_age = seconds == 0 ? Time{} : now + std::chrono::seconds(seconds);
    }
    if (name == "domain") domain = lower(value.starts_with('.') ? value.substr(1) : value);
    if (name == "path") cookie.path = value.starts_with('/') ? std::string(value) : default_path(place.path);
  }
  if (max_age) cookie.expires = max_age;
  if (!domain.empty() && is_public_suffix(domain) && !parse_ip(domain)) {
    if (domain != place.host) return false;
    domain.clear();
  }
  if (!domain.empty()) {
    if (!domain_matches(place.host, domain)) return false;
    cookie.host_only = false;
    cookie.domain = domain;
  }
  if (cookie.secure && !place.tls) return false;  // RFC 6265bis, 5.6
  if (cookie.name.starts_with("__Secure-") && !cookie.secure) return false;
  if (cookie.name.starts_with("__Host-") && !(cookie.secure && cookie.host_only && cookie.path == "/")) return false;
  const auto same = std::find_if(cookies_.begin(), cookies_.end(), [&](const Cookie& known) {
    return known.name == cookie.name && known.domain == cookie.domain && known.path == cookie.path &&
           known.host_only == cookie.host_only;
  });
  if (same != cookies_.end()) {
    cookie.created = same->created;
    erase(same);
  }
  if (cookie.expires && *cookie.expires <= now) return true;
  const std::string cookie_domain = cookie.domain;
  bytes_ += bytes_of(cookie);
  cookies_.push_back(std::move(cookie));
  make_room(cookie_domain);
  return true;
}

// The earliest set makes room: among the domain's own while there are too many of these, else among all.
void CookieJar::make_room(const std::string& domain) {
  const auto of_domain = [&](const Cookie& cookie) { return cookie.domain == domain; };
  while (std::count_if(cookies_.begin(), cookies_.end(), of_domain) > std::ptrdiff_t{max_domain_cookies})
    erase(std::find_if(cookies_.begin(), cookies_.end(), of_domain));
  while (bytes_ > max_jar_bytes) erase(cookies_.begin());
}

void CookieJar::erase(std::vector<Cookie>::iterator cookie) {
  bytes_ -= bytes_of(*cookie);
  cookies_.erase(cookie);
}

bool CookieJar::drop_expired(Time now) {
  const std::size_t before = cookies_.size();
  for (auto at = cookies_.begin(); at != cookies_.end();) {
    if (at->expires && *at->expires <= now) {
      bytes_ -= bytes_of(*at);
      at = cookies_.erase(at);
    } else {
      ++at;
    }
  }
  return cookies_.size() < before;
}

std::string CookieJar::header_for(const UrlPlace& place, Time now) const {
  std::vector<const Cookie*> sent;
  for (const Cookie& cookie : cookies_) {
    if (cookie.expires && *cookie.expires <= now) continue;
    const bool here = cookie.host_only ? cookie.domain == place.host : domain_matches(place.host, cookie.domain);
    if (here && path_matches(place.path, cookie.path) && (place.tls || !cookie.secure)) sent.push_back(&cookie);
  }
  // RFC 6265, 5.4: longer paths first, then the earlier ones.
  std::stable_sort(sent.begin(), sent.end(), [](const Cookie* a, const Cookie* b) {
    if (a->path.size() != b->path.size()) return a->path.size() > b->path.size();
    return a->created < b->created;
  });
  std::string header;
  for (const Cookie* cookie : sent) header += (header.empty() ? "" : "; ") + cookie->name + "=" + cookie->value;
  return header;
}

Time CookieJar::expires() const {
  Time last{};
  for (const Cookie& cookie : cookies_) last = std::max(last, cookie.expires.value_or(never));
  return last;
}

std::string CookieJar::encode() const {
  std::string out;
  for (const Cookie& cookie : cookies_) {
    out.push_back(static_cast<char>((cookie.host_only ? host_only_flag : 0) | (cookie.secure ? secure_flag : 0) |
                                    (cookie.expires ? expires_flag : 0)));
    put_time(cookie.created, out);
    if (cookie.expires) put_time(*cookie.expires, out);
    for (const std::string* text : {&cookie.name, &cookie.value, &cookie.domain, &cookie.path}) put_text(*text, out);
  }
  return out;
}

std::optional<CookieJar> CookieJar::decode(std::string_view bytes) {
  CookieJar jar;
  while (!bytes.empty()) {
    const auto flags = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    Cookie cookie;
    Time expires{};
    if ((flags & ~(host_only_flag | secure_flag | expires_flag)) != 0 || !take_time(bytes, cookie.created) ||
        ((flags & expires_flag) != 0 && !take_time(bytes, expires)))
      return std::nullopt;
    for (std::string* text : {&cookie.name, &cookie.value, &cookie.domain, &cookie.path})
      if (!take_text(bytes, *text)) return std::nullopt;
    cookie.host_only = (flags & host_only_flag) != 0;
    cookie.secure = (flags & secure_flag) != 0;
    if ((flags & expires_flag) != 0) cookie.expires = expires;
    if (cookie.name.empty() || cookie.domain.empty() || !cookie.path.starts_with('/')) return std::nullopt;
    jar.bytes_ += bytes_of(cookie);
    if (jar.bytes_ > max_jar_bytes) return std::nullopt;
    jar.cookies_.push_back(std::move(cookie));
  }
  return jar;
}

}  // namespace orbweaver
