#include "node/archive/replay_key.h"

#include <algorithm>
#include <vector>

namespace orbweaver::archive {

namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string_view>& parts, char with) {
  std::string text(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) (text += with) += parts[i];
  return text;
}

// "www.example.com" and "www12.example.com" without their first label.
std::string_view without_www(std::string_view host) {
  if (!host.starts_with("www")) return host;
  const std::size_t end = host.find_first_not_of("0123456789", 3);
  return end != std::string_view::npos && host[end] == '.' ? host.substr(end + 1) : host;
}

}  // namespace

std::string replay_key(std::string_view url) {
  std::string lower(url);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  std::string_view rest = lower;
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else {
    return std::string(url);
  }
  const std::string_view authority = without_www(rest.substr(0, rest.find_first_of("/?#")));
  const std::size_t path_begin = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view path = rest.substr(path_begin, rest.find('#', path_begin) - path_begin);
  const std::size_t query_begin = std::min(path.find('?'), path.size());
  const std::string_view query = path.substr(query_begin);
  path = path.substr(0, query_begin);

  std::string_view host = authority;
  std::string_view port;
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  std::vector<std::string_view> labels = split(host, '.');
  std::reverse(labels.begin(), labels.end());
  std::string key = join(labels, ',');
  key += port;
  key += ')';
  key += path.empty() ? "/" : path;
  if (query.size() > 1) {
    std::vector<std::string_view> arguments = split(query.substr(1), '&');
    std::sort(arguments.begin(), arguments.end());
    key += '?' + join(arguments, '&');
  }
  return key;
}

}  // namespace orbweaver::archive
