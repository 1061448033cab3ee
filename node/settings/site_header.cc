#include "node/settings/site_header.h"

#include <algorithm>

#include "node/settings/cidr.h"
#include "node/settings/endpoint.h"
#include "node/text/shown.h"

namespace orbweaver {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool is_visible(char c) { return c >= ' ' && c <= '~'; }

// RFC 9110, 5.6.2: token.
bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<SiteHeader> parse_site_header(std::string_view text) {
  const std::string_view site = text.substr(0, text.find(' '));
  const auto bad = [&](std::string_view why) {
    return fail(ErrorCode::invalid_setting, "the entry for " + shown(site) + " " + std::string(why) +
                                                ": write HOST Name: value, for example docs.example Authorization: "
                                                "Basic dXNlcjpwYXNz, or http://docs.example for a site without TLS");
  };
  SiteHeader header;
  std::string place(site);
  std::transform(place.begin(), place.end(), place.begin(), lower);
  if (place.starts_with("http://")) {
    header.tls = false;
    header.port = 80;
    place.erase(0, 7);
  } else if (place.starts_with("https://")) {
    place.erase(0, 8);
  }
  const std::size_t colon = place.rfind(':');
  const std::size_t bracket = place.rfind(']');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  const auto endpoint = parse_endpoint(has_port ? place : place + ":" + std::to_string(header.port));
  if (!endpoint || endpoint->port == 0) return bad("names no host");
  header.host = endpoint->host;
  header.port = endpoint->port;
  const std::string_view line = trimmed(text.substr(site.size()));
  const std::size_t end = line.find(':');
  if (end == std::string_view::npos || end == 0) return bad("has no header line after the host");
  header.name = line.substr(0, end);
  header.value = trimmed(line.substr(end + 1));
  if (!std::all_of(header.name.begin(), header.name.end(), is_token_char)) return bad("has no header name");
  if (header.value.empty()) return bad("has a header without a value");
  if (!std::all_of(header.value.begin(), header.value.end(), is_visible))
    return bad("has a value with a character that is not visible ASCII");
  std::string name = header.name;
  std::transform(name.begin(), name.end(), name.begin(), lower);
  for (const std::string_view own : {"host", "connection", "content-length", "transfer-encoding", "te", "upgrade",
                                     "accept-encoding", "user-agent", "range"})
    if (name == own) return bad("sets " + name + ", which the crawler itself sets");
  return header;
}

std::string contact_problem(std::string_view text) {
  if (text.empty()) return {};
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return is_visible(c) && c != ' ' && c != '(' && c != ')' && c != '\\'; });
  const std::size_t scheme = text.find("://");
  const bool url = (text.starts_with("https://") || text.starts_with("http://")) && text.size() > scheme + 3;
  const std::size_t at = text.find('@');
  const bool mail = at != std::string_view::npos && at > 0 && text.find('.', at) != std::string_view::npos;
  if (plain && (url || mail)) return {};
  return shown(text) +
         " is not an http(s) URL or a mail address, for example https://example.org/bot or bot@example.org";
}

std::string user_agent_with(std::string_view user_agent, std::string_view contact) {
  std::string sent(user_agent);
  if (!contact.empty()) sent += " (+" + std::string(contact) + ")";
  return sent;
}

bool names_contact(std::string_view user_agent, std::string_view contact) {
  if (!contact.empty()) return true;
  return user_agent.find("http://") != std::string_view::npos ||
         user_agent.find("https://") != std::string_view::npos || user_agent.find('@') != std::string_view::npos;
}

}  // namespace orbweaver
