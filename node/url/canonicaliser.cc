#include "node/url/canonicaliser.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "node/text/shown.h"
#include "node/url/normalise.h"
#include "node/url/percent_encode.h"
#include "node/url/registrable_domain.h"
#include "node/url/session_ids.h"

// Why it is idempotent. Each rule only removes something, except sorting, and the rest is still in normal form
// (normalise.h). Each is applied until it finds nothing more: "www." and the ends of a path in loops, parameters and
// segments one by one. The result of a rule gives no earlier rule new work: session ids are removed before the index
// file and the last '/', which are removed only at the end of a path, and a segment at the end is never treated as a
// session's.

namespace orbweaver {

using namespace url_text;

namespace {

constexpr std::string_view www = "www.";
constexpr std::size_t session_id_bytes_min = 16;
constexpr std::size_t max_pattern_bytes = 128;

constexpr auto tracking = std::to_array<std::string_view>({
#define TRACKING(name, whose) name,
#include "node/url/parameter_patterns.inc"
});

constexpr auto sessions = std::to_array<std::string_view>({
#define SESSION(name, whose) name,
#include "node/url/parameter_patterns.inc"
});

constexpr auto sessions_if_id = std::to_array<std::string_view>({
#define SESSION_IF_ID(name, whose) name,
#include "node/url/parameter_patterns.inc"
});

constexpr auto index_files = std::to_array<std::string_view>({
#define INDEX_FILE(name, whose) name,
#include "node/url/parameter_patterns.inc"
});

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), ascii_lower);
  return out;
}

// '*' is any run of characters. Linear, except that a pattern's last '*' is tried again from each place.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool looks_like_an_id(std::string_view value) {
  const auto is_digit = [](char c) { return is_ascii_digit(c); };
  const auto is_id = [](char c) { return is_ascii_digit(c) || is_ascii_alpha(c); };
  return value.size() >= session_id_bytes_min && std::all_of(value.begin(), value.end(), is_id) &&
         std::any_of(value.begin(), value.end(), is_digit);
}

bool ends_with_index(std::string_view path, std::size_t& name_bytes) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  name_bytes = file.size();
  return std::any_of(index_files.begin(), index_files.end(), [&](std::string_view known) {
    return file.size() == known.size() &&
           std::equal(file.begin(), file.end(), known.begin(), [](char a, char b) { return ascii_lower(a) == b; });
  });
}

}  // namespace

// In the order of changes().
enum Canonicaliser::Rule : std::uint16_t {
  strip_tracking = 1 << 0,
  strip_parameters = 1 << 1,
  sort_parameters = 1 << 2,
  strip_sessions = 1 << 3,
  strip_index = 1 << 4,
  trailing_slash = 1 << 5,
  join_www = 1 << 6,
  join_schemes = 1 << 7,
  hash_bang = 1 << 8,
};

std::string parameter_pattern_fault(std::string_view pattern) {
  if (pattern.empty()) return "an entry is empty";
  if (pattern.size() > max_pattern_bytes)
    return shown(pattern) + " is longer than " + std::to_string(max_pattern_bytes) + " bytes";
  const auto allowed = [](char c) { return c > ' ' && c < 0x7f && c != '&' && c != '=' && c != '#'; };
  if (!std::all_of(pattern.begin(), pattern.end(), allowed))
    return shown(pattern) +
           " is not a parameter's name: visible ASCII without '&', '=' and '#', other characters as %XX; '*' stands "
           "for "
           "any "
           "run of characters";
  return {};
}

void Canonicaliser::Names::add(std::string_view pattern) {
  std::string normal;
  append_normalised(normal, pattern);
  normal = lower(normal);
  if (normal.find('*') == std::string::npos) {
    whole.insert(std::move(normal));
  } else {
    patterns.push_back(std::move(normal));
  }
}

bool Canonicaliser::Names::match(const std::string& name) const {
  return whole.contains(name) || std::any_of(patterns.begin(), patterns.end(),
                                             [&](const std::string& pattern) { return matches(pattern, name); });
}

Canonicaliser::Canonicaliser(const Settings& settings)
    : sort_(settings.sort_parameters),
      strip_sessions_(settings.strip_sessions),
      strip_index_(settings.strip_index),
      drop_slash_(settings.trailing_slash == TrailingSlash::drop),
      join_www_(settings.join_www),
      keep_hash_bang_(settings.hash_bang == HashBang::keep) {
  if (settings.strip_tracking)
    for (const std::string_view entry : tracking) tracking_.add(entry);
  for (const std::string& pattern : settings.strip_parameters) asked_.add(pattern);
  if (strip_sessions_) {
    for (const std::string_view entry : sessions) sessions_.add(entry);
    for (const std::string_view entry : sessions_if_id) sessions_if_id_.add(entry);
  }
  if (settings.join_schemes != JoinSchemes::keep)
    scheme_ = settings.join_schemes == JoinSchemes::https ? "https" : "http";
  any_ = settings.strip_tracking || !asked_.empty() || sort_ || strip_sessions_ || strip_index_ || drop_slash_ ||
         join_www_ || keep_hash_bang_ || !scheme_.empty();
}

Result<CanonicalUrl> Canonicaliser::parse(std::string_view text) const {
  const Result<Url> url = Url::parse(text);
  if (!url) return tl::make_unexpected(url.error());
  return from(*url);
}

Result<CanonicalUrl> Canonicaliser::from(const Url& url) const {
  if (!any_) return CanonicalUrl::from(url);
  std::uint16_t changed = 0;
  return apply(url, changed);
}

Result<CanonicalUrl> Canonicaliser::apply(const Url& url, std::uint16_t& changed) const {
  Result<CanonicalUrl::Pieces> pieces = CanonicalUrl::pieces_of(url);
  if (!pieces) return tl::make_unexpected(pieces.error());
  const std::string_view host = join_www_ ? joined_host(pieces->host) : pieces->host;
  if (host.size() != pieces->host.size()) changed |= join_www;
  pieces->host = host;
  // A URL with an explicit port names one server, and that speaks only one of the two schemes.
  if (!scheme_.empty() && !pieces->port && pieces->scheme != scheme_) {
    pieces->scheme = scheme_;
    changed |= join_schemes;
  }
  const std::string path = joined_path(pieces->path, changed);
  const std::string query = joined_query(pieces->query, changed);
  pieces->path = path;
  pieces->query = query;
  if (keep_hash_bang_ && url.fragment() && url.fragment()->starts_with('!')) {
    pieces->fragment = *url.fragment();
    changed |= hash_bang;
  }
  return CanonicalUrl::assemble(*pieces);
}

// Drops "www." as often as it is repeated, but keeps at least a registrable domain: "www.co.uk" is one.
std::string_view Canonicaliser::joined_host(std::string_view host) const {
  while (host.starts_with(www) && registrable_domain(host).size() + www.size() <= host.size()) {
    host.remove_prefix(www.size());
  }
  return host;
}

std::string Canonicaliser::joined_path(std::string_view path, std::uint16_t& changed) const {
  std::string out;
  out.reserve(path.size());
  append_normalised(out, path);
  if (strip_sessions_) {
    std::string without = without_path_sessions(out);
    if (without.size() != out.size()) changed |= strip_sessions;
    out = std::move(without);
  }
  for (bool more = true; more;) {
    more = false;
    std::size_t name_bytes = 0;
    if (strip_index_ && ends_with_index(out, name_bytes)) {
      out.resize(out.size() - name_bytes);
      changed |= strip_index;
      more = true;
    }
    if (drop_slash_ && out.size() > 1 && out.ends_with('/')) {
      out.pop_back();
      changed |= trailing_slash;
      more = true;
    }
  }
  return out;
}

bool Canonicaliser::is_stripped(std::string_view parameter, std::uint16_t& changed) const {
  const std::size_t equals = std::min(parameter.find('='), parameter.size());
  const std::string name = lower(parameter.substr(0, equals));
  if (tracking_.match(name)) {
    changed |= strip_tracking;
  } else if (asked_.match(name)) {
    changed |= strip_parameters;
  } else if (sessions_.match(name) || (equals < parameter.size() && sessions_if_id_.match(name) &&
                                       looks_like_an_id(parameter.substr(equals + 1)))) {
    changed |= strip_sessions;
  } else {
    return false;
  }
  return true;
}

std::string Canonicaliser::joined_query(std::string_view query, std::uint16_t& changed) const {
  std::string normal;
  normal.reserve(query.size());
  append_normalised(normal, query);
  const bool strips = !tracking_.empty() || !asked_.empty() || strip_sessions_;
  if (normal.empty() || (!strips && !sort_)) return normal;
  std::vector<std::string_view> kept;
  for (std::string_view rest = normal;;) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view parameter = rest.substr(0, end);
    if (parameter.empty() && sort_) {
      changed |= sort_parameters;  // an empty parameter is dropped
    } else if (!strips || !is_stripped(parameter, changed)) {
      kept.push_back(parameter);
    }
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (sort_) {
    const auto name = [](std::string_view parameter) { return parameter.substr(0, parameter.find('=')); };
    const auto by_name = [&](std::string_view a, std::string_view b) { return name(a) < name(b); };
    if (!std::is_sorted(kept.begin(), kept.end(), by_name)) changed |= sort_parameters;
    std::stable_sort(kept.begin(), kept.end(), by_name);
  }
  std::string out;
  out.reserve(normal.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i != 0) out.push_back('&');
    out.append(kept[i]);
  }
  return out;
}

std::vector<std::string_view> Canonicaliser::changes(const Url& url) const {
  std::vector<std::string_view> out;
  std::uint16_t changed = 0;
  const Result<CanonicalUrl> made = apply(url, changed);
  if (!made) return out;
  if (!url.username().empty() || !url.password().empty()) out.emplace_back("credentials");
  if (url.fragment() && (changed & hash_bang) == 0) out.emplace_back("fragment");
  if (url.host()->ends_with('.') && !url.host()->ends_with("..")) out.emplace_back("host_dot");
  if (url.query() && url.query()->empty()) out.emplace_back("empty_query");
  std::string normal;
  append_normalised(normal, url.path());
  if (url.query()) append_normalised(normal, "?" + *url.query());
  if (normal != url.path() + (url.query() ? "?" + *url.query() : "")) out.emplace_back("escapes");
  constexpr std::array<std::pair<Rule, std::string_view>, 8> names = {{{strip_tracking, "strip_tracking"},
                                                                       {strip_parameters, "strip_parameters"},
                                                                       {sort_parameters, "sort_parameters"},
                                                                       {strip_sessions, "strip_sessions"},
                                                                       {strip_index, "strip_index"},
                                                                       {trailing_slash, "trailing_slash"},
                                                                       {join_www, "join_www"},
                                                                       {join_schemes, "join_schemes"}}};
  for (const auto& [rule, name] : names)
    if ((changed & rule) != 0) out.push_back(name);
  return out;
}

}  // namespace orbweaver
