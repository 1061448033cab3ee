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
  for (const char c : set_cookie)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) return false;  // RFC 6265bis, 5.6
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
  const std::string key = registrable_domain(place.host);
  Domain& known = domains_[key];
  const auto [begin, end] = known.equal_range(cookie.name);
  const auto same = std::find_if(begin, end, [&](const auto& entry) {
    return entry.second.domain == cookie.domain && entry.second.path == cookie.path &&
           entry.second.host_only == cookie.host_only;
  });
  if (same != end) {
    cookie.created = same->second.created;
    known.erase(same);
    --size_;
  }
  const std::string cookie_domain = cookie.domain;
  if (!cookie.expires || *cookie.expires > now) {
    cookie.used = ++uses_;
    std::string name = cookie.name;
    known.emplace(std::move(name), std::move(cookie));
    ++size_;
  }
  const auto of_domain = [&](const auto& entry) { return entry.second.domain == cookie_domain; };
  if (std::count_if(known.begin(), known.end(), of_domain) > std::ptrdiff_t{max_domain_cookies})
    drop_oldest(key, cookie_domain);
  if (size_ > max_cookies) drop_oldest_of_all();
  if (const auto found = domains_.find(key); found != domains_.end() && found->second.empty()) domains_.erase(found);
  return true;
}

std::string CookieJar::header_for(const UrlPlace& place, Time now) {
  if (size_ == 0) return {};
  const auto found = domains_.find(registrable_domain(place.host));
  if (found == domains_.end()) return {};
  std::vector<Cookie*> sent;
  for (auto at = found->second.begin(); at != found->second.end();) {
    Cookie& cookie = at->second;
    if (cookie.expires && *cookie.expires <= now) {
      at = found->second.erase(at);
      --size_;
      continue;
    }
    ++at;
    const bool here = cookie.host_only ? cookie.domain == place.host : domain_matches(place.host, cookie.domain);
    if (here && path_matches(place.path, cookie.path) && (place.tls || !cookie.secure)) sent.push_back(&cookie);
  }
  // RFC 6265, 5.4: longer paths first, then the earlier ones.
  std::stable_sort(sent.begin(), sent.end(), [](const Cookie* a, const Cookie* b) {
    if (a->path.size() != b->path.size()) return a->path.size() > b->path.size();
    return a->created < b->created;
  });
  std::string header;
  for (Cookie* cookie : sent) {
    cookie->used = ++uses_;
    header += (header.empty() ? "" : "; ") + cookie->name + "=" + cookie->value;
  }
  return header;
}

void CookieJar::drop_oldest(const std::string& key, const std::string& domain) {
  Domain& known = domains_.at(key);
  auto oldest = known.end();
  for (auto at = known.begin(); at != known.end(); ++at) {
    if (!domain.empty() && at->second.domain != domain) continue;
    if (oldest == known.end() || at->second.used < oldest->second.used) oldest = at;
  }
  if (oldest == known.end()) return;
  known.erase(oldest);
  --size_;
}

void CookieJar::drop_oldest_of_all() {
  const std::string* where = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& [domain, cookies] : domains_)
    for (const auto& [name, cookie] : cookies)
      if (cookie.used < least) {
        least = cookie.used;
        where = &domain;
      }
  if (where == nullptr) return;
  const std::string key = *where;
  drop_oldest(key, {});
  if (domains_.at(key).empty()) domains_.erase(key);
}

}  // namespace orbweaver
