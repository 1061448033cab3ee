#include "node/url/surt.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "node/url/percent_encode.h"
#include "node/url/session_ids.h"
#include "node/url/url_host.h"

namespace orbweaver {

using namespace url_text;

namespace {

// "com,example,www" of "www.example.com"; a comma in a name becomes '.', which no label holds.
std::string reversed_host(std::string_view host) {
  if (is_ip_address(host)) return std::string(host);
  std::string out;
  out.reserve(host.size());
  for (std::string_view rest = host;;) {
    const std::size_t dot = rest.rfind('.');
    const std::string_view label = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
    std::transform(label.begin(), label.end(), std::back_inserter(out), [](char c) { return c == ',' ? '.' : c; });
    if (dot == std::string_view::npos) return out;
    out.push_back(',');
    rest = rest.substr(0, dot);
  }
}

// "www.example.com" and "www12.example.com" without their first label.
std::string_view without_www(std::string_view host) {
  if (!host.starts_with("www")) return host;
  const std::size_t end = host.find_first_not_of("0123456789", 3);
  return end != std::string_view::npos && host[end] == '.' && end + 1 < host.size() ? host.substr(end + 1) : host;
}

// Is this parameter a session id of the usual frameworks? `text` is lower case.
bool is_session_parameter(std::string_view text) {
  constexpr std::size_t id_bytes = 32;
  for (const std::string_view name : {"jsessionid=", "phpsessid=", "sid="}) {
    if (text.starts_with(name)) return text.size() == name.size() + id_bytes;
  }
  if (text.starts_with("aspsessionid")) return text.size() > 21 && text[20] == '=';
  return text.starts_with("cfid=") || text.starts_with("cftoken=");
}

std::string without_session_segments(std::string_view path) {
  std::string out;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t next = std::min(rest.find('/', 1), rest.size());
    const std::string_view segment = rest.substr(0, next);  // with its '/'
    const bool last = next == rest.size();
    if (last || !is_session_segment(segment.substr(1))) out.append(segment);
    rest.remove_prefix(next);
  }
  // ";jsessionid=..." ends a path.
  const std::size_t parameter = out.rfind(';');
  if (parameter != std::string::npos && is_session_parameter(std::string_view(out).substr(parameter + 1))) {
    out.resize(parameter);
  }
  if (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

std::string sorted_query(std::string_view query) {
  std::vector<std::string_view> parameters;
  for (bool more = true; more;) {
    const std::size_t end = query.find('&');
    more = end != std::string_view::npos;
    if (!is_session_parameter(query.substr(0, end))) parameters.push_back(query.substr(0, end));
    if (more) query.remove_prefix(end + 1);
  }
  std::stable_sort(parameters.begin(), parameters.end());
  std::string out;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (i != 0) out.push_back('&');
    out.append(parameters[i]);
  }
  return out;
}

// Escapes of printable ASCII that need none in a key are decoded, as the Internet Archive's canonicaliser does; '%',
// '#' and space stay.
std::string relaxed_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_escape(text, i)) {
      const auto byte = static_cast<unsigned char>(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
      if (byte > 0x20 && byte < 0x7f && byte != '%' && byte != '#') {
        out.push_back(ascii_lower(static_cast<char>(byte)));
        i += 2;
        continue;
      }
    }
    out.push_back(ascii_lower(text[i]));
  }
  return out;
}

std::string surt_authority(std::string_view host, std::string_view port) {
  std::string out = reversed_host(host);
  out.append(port).push_back(')');
  return out;
}

}  // namespace

std::string surt(const CanonicalUrl& url) {
  std::string out = surt_authority(url.host(), url.authority().substr(url.host().size()));
  out.append(url.text(), url.origin().size());  // with a "#!" that the crawl keeps
  return out;
}

std::string cdx_key(const CanonicalUrl& url) {
  const std::string_view host = is_ip_address(url.host()) ? url.host() : without_www(url.host());
  std::string out = surt_authority(host, url.authority().substr(url.host().size()));
  const std::string_view rest = url.path_and_query();
  const std::size_t mark = std::min(rest.find('?'), rest.size());
  out.append(without_session_segments(relaxed_escapes(rest.substr(0, mark))));
  if (mark < rest.size()) {
    const std::string query = sorted_query(relaxed_escapes(rest.substr(mark + 1)));
    if (!query.empty()) out.append("?").append(query);
  }
  return out;
}

}  // namespace orbweaver
