// The key of an index of web archives, in the steps of the tools' common library and with its oddities:
// a key made in another way is not found.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/url/percent_encode.h"
#include "node/url/surt.h"

namespace orbweaver {

using namespace url_text;

namespace {

bool is_alpha_or_digit(char c) { return is_ascii_alpha(c) || (c >= '0' && c <= '9'); }

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), ascii_lower);
  return text;
}

std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = is_escape(text, i);
    out.push_back(escape ? static_cast<char>(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2])) : text[i]);
    if (escape) i += 2;
  }
  return out;
}

// Unescapes until there is nothing left to unescape: "%2541" is 'A'.
std::string fully_unescaped(std::string_view text) {
  std::string out(text);
  for (std::string next = unescaped(out); next != out; next = unescaped(out)) out = std::move(next);
  return out;
}

// Escapes everything except visible ASCII, and '%' and '#'.
std::string escaped_once(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F && c != '%' && c != '#') {
      out.push_back(c);
    } else {
      out.append({'%', digits[byte >> 4], digits[byte & 0xF]});
    }
  }
  return out;
}

// Removes dots at both ends, and one dot of each "..".
std::string trimmed_host(std::string_view host) {
  std::string out;
  for (std::size_t i = 0; i < host.size(); ++i) {
    out.push_back(host[i]);
    if (host[i] == '.' && i + 1 < host.size() && host[i + 1] == '.') ++i;
  }
  out.erase(0, std::min(out.find_first_not_of('.'), out.size()));
  out.erase(out.find_last_not_of('.') + 1);
  return out;
}

// "www.example.com" and "www12.example.com" without their first label.
std::string_view without_www(std::string_view host) {
  if (!host.starts_with("www")) return host;
  const std::size_t end = host.find_first_not_of("0123456789", 3);
  return end != std::string_view::npos && host[end] == '.' ? host.substr(end + 1) : host;
}

std::string reversed_labels(std::string_view host) {
  std::string out;
  for (;;) {
    const std::size_t dot = host.rfind('.');
    out.append(host.substr(dot == std::string_view::npos ? 0 : dot + 1));
    if (dot == std::string_view::npos) return out;
    out.push_back(',');
    host = host.substr(0, dot);
  }
}

// Removes dot segments and empty ones; the last empty one stays as the path's last '/'.
std::string normalised_path(std::string_view path) {
  std::vector<std::string_view> kept;
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view segment = path.substr(begin, end - begin);
    if (segment == ".." && !kept.empty()) {
      kept.pop_back();
    } else if (segment != ".") {
      kept.push_back(segment);
    }
    begin = end + 1;
  }
  std::string out = "/";
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const bool last = i + 1 == kept.size();
    out.append(kept[i]);
    if (!last && !kept[i].empty()) out.push_back('/');
  }
  return out;
}

bool all_alpha_or_digits(std::string_view text, std::size_t length) {
  return text.size() == length && std::all_of(text.begin(), text.end(), is_alpha_or_digit);
}

// "(4hqa0555fwsecu455xqckv45)", or with `lettered` "(S(4hqa0555fwsecu455xqckv45))" of one piece or more.
bool is_asp_session(std::string_view segment, bool lettered) {
  constexpr std::size_t id_bytes = 24;
  if (segment.size() < 2 || segment.front() != '(' || segment.back() != ')') return false;
  segment = segment.substr(1, segment.size() - 2);
  if (!lettered) return all_alpha_or_digits(segment, id_bytes);
  if (segment.empty() || segment.size() % (id_bytes + 3) != 0) return false;
  for (; !segment.empty(); segment.remove_prefix(id_bytes + 3)) {
    if (!is_ascii_alpha(segment[0]) || segment[1] != '(' || segment[id_bytes + 2] != ')' ||
        !all_alpha_or_digits(segment.substr(2, id_bytes), id_bytes))
      return false;
  }
  return true;
}

// Removes the last such segment before a page of ASP.NET's. `path` is lower case.
std::string without_session_segment(std::string path, bool lettered) {
  for (std::size_t end = path.rfind('/'); end != std::string::npos && end > 0; end = path.rfind('/', end - 1)) {
    const std::size_t begin = path.rfind('/', end - 1);
    const std::size_t page = path.find(".aspx", end + 2);
    if (begin == std::string::npos) break;
    if (page == std::string::npos || path.find('?', end + 1) < page) continue;
    if (!is_asp_session(std::string_view(path).substr(begin + 1, end - begin - 1), lettered)) continue;
    path.erase(begin + 1, end - begin);
    break;
  }
  return path;
}

bool all_letters(std::string_view text, std::size_t length) {
  return text.size() == length && std::all_of(text.begin(), text.end(), is_ascii_alpha);
}

enum class Session { java, php, sid, asp, coldfusion };

// The length of the session id at the start of `text`, which is lower case; 0 when there is none.
std::size_t session_bytes(Session form, std::string_view text) {
  constexpr std::size_t id_bytes = 32;
  constexpr std::array<std::string_view, 3> names = {"jsessionid=", "phpsessid=", "sid="};
  if (form < Session::asp) {
    const std::string_view name = names[static_cast<std::size_t>(form)];
    const bool found = text.starts_with(name) && all_alpha_or_digits(text.substr(name.size(), id_bytes), id_bytes);
    return found ? name.size() + id_bytes : 0;
  }
  if (form == Session::asp) {  // ASPSESSIONID, 8 letters, '=', 24 letters
    const bool found = text.starts_with("aspsessionid") && text.size() >= 45 && text[20] == '=' &&
                       all_letters(text.substr(12, 8), 8) && all_letters(text.substr(21, 24), 24);
    return found ? 45 : 0;
  }
  const std::size_t next = text.find('&');
  if (!text.starts_with("cfid=") || next == std::string_view::npos || next == 5) return 0;
  if (!text.substr(next).starts_with("&cftoken=")) return 0;
  const std::size_t end = std::min(text.find('&', next + 1), text.size());
  return end > next + 9 ? end : 0;
}

// Removes the last id of each form, wherever it begins, with the '&' after it. `query` is lower case.
std::string without_sessions(std::string query) {
  for (const Session form : {Session::java, Session::php, Session::sid, Session::asp, Session::coldfusion}) {
    for (std::size_t at = query.size(); at-- > 0;) {
      const std::size_t length = session_bytes(form, std::string_view(query).substr(at));
      const std::size_t end = at + length;
      if (length == 0 || (end < query.size() && query[end] != '&')) continue;
      query.erase(at, length + (end < query.size() ? 1 : 0));
      break;
    }
  }
  return query;
}

// Sorted by name, then by value; a name without '=' comes first.
std::string with_sorted_parameters(std::string_view query) {
  using Parameter = std::pair<std::string_view, std::optional<std::string_view>>;
  std::vector<Parameter> parameters;
  for (std::size_t begin = 0; begin <= query.size();) {
    const std::size_t end = std::min(query.find('&', begin), query.size());
    const std::string_view text = query.substr(begin, end - begin);
    const std::size_t equals = text.find('=');
    parameters.emplace_back(text.substr(0, equals), std::nullopt);
    if (equals != std::string_view::npos) parameters.back().second = text.substr(equals + 1);
    begin = end + 1;
  }
  std::sort(parameters.begin(), parameters.end());
  std::string out;
  for (const auto& [name, value] : parameters) {
    if (&name != &parameters.front().first) out.push_back('&');
    out.append(name);
    if (value) out.append("=").append(*value);
  }
  return out;
}

std::string bare_host(const CanonicalUrl& url) {
  std::string_view host = url.host();
  if (host.starts_with('[')) return std::string(host.substr(1, host.size() - 2));
  std::string trimmed = trimmed_host(host);
  // Without stray dots the host may be an IPv4 address ("127.1..").
  if (trimmed.size() != host.size() && !trimmed.empty() &&
      trimmed.find_first_not_of("0123456789.") == std::string::npos)
    if (const Result<Url> plain = Url::parse("http://" + trimmed + "/")) trimmed = plain->host().value_or(trimmed);
  return reversed_labels(without_www(trimmed));
}

}  // namespace

std::string cdx_key(const CanonicalUrl& url) {
  const std::string_view rest = url.path_and_query();
  const std::size_t mark = std::min(rest.find('?'), rest.size());
  const std::string host = bare_host(url);
  std::string path = fully_unescaped(rest.substr(0, mark));
  if (!host.empty()) path = normalised_path(path);
  path = lower(escaped_once(path));
  for (const bool lettered : {true, false}) path = without_session_segment(std::move(path), lettered);
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();

  // For a host of only dots the library keeps the scheme.
  std::string out = host.empty() ? std::string(url.scheme()) + ":" : host;
  const std::string_view port = url.authority().substr(url.host().size());
  if (!host.empty()) out.append(port == ":0" ? "" : port).push_back(')');  // port 0 counts as none there
  out.append(path);
  if (mark < rest.size()) {
    const std::string query = without_sessions(lower(escaped_once(fully_unescaped(rest.substr(mark + 1)))));
    if (!query.empty()) out.append("?").append(with_sorted_parameters(query));
  }
  return out;
}

}  // namespace orbweaver
