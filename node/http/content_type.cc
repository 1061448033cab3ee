// Which Content-Type counts (Fetch, "extract a MIME type"; MIME Sniffing, "parse a MIME type").
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "node/http/http_message.h"

namespace orbweaver {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);  // npos + 1 is 0
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_token(std::string_view text) {
  static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
  });
}

// The position of the first `end` outside quotes.
std::size_t find_unquoted(std::string_view text, char end, std::size_t at) {
  bool quoted = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (quoted && text[at] == '\\') ++at;
    if (!quoted && at < text.size() && text[at] == end) return at;
  }
  return text.size();
}

// "text/html" from a readable MIME type.
std::optional<std::string> essence_of(std::string_view value) {
  const std::string_view essence = trim(value.substr(0, value.find(';')));
  const std::size_t slash = essence.find('/');
  if (slash == std::string_view::npos || !is_token(essence.substr(0, slash)) || !is_token(essence.substr(slash + 1)))
    return std::nullopt;
  return lower(essence);
}

// The charset parameter as written, with its quotes; empty when there is none.
std::string_view charset_of(std::string_view value) {
  for (std::size_t at = value.find(';'); at < value.size();) {
    const std::size_t end = find_unquoted(value, ';', at + 1);
    const std::string_view parameter = trim(value.substr(at + 1, end - at - 1));
    const std::size_t equals = parameter.find('=');
    if (equals != std::string_view::npos && lower(trim(parameter.substr(0, equals))) == "charset")
      return trim(parameter.substr(equals + 1));
    at = end;
  }
  return {};
}

}  // namespace

std::string media_type(std::string_view content_type) {
  constexpr std::string_view html_spaces = " \t\n\f\r";
  content_type = content_type.substr(0, content_type.find(';'));
  content_type.remove_prefix(std::min(content_type.find_first_not_of(html_spaces), content_type.size()));
  return lower(content_type.substr(0, content_type.find_last_not_of(html_spaces) + 1));
}

std::string content_type_of(std::string_view head) {
  const std::vector<std::string> fields = header_values(head, "content-type");
  if (fields.empty()) return {};
  std::string all;
  for (const std::string& field : fields) all += (all.empty() ? "" : ",") + field;
  std::string chosen;
  std::string essence;
  std::string charset;
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t end = find_unquoted(all, ',', at);
    const std::string_view value = trim(std::string_view(all).substr(at, end - at));
    at = end + 1;
    const auto type = essence_of(value);
    if (!type || *type == "*/*") continue;
    const std::string_view own_charset = charset_of(value);
    if (*type != essence) charset.clear();
    if (!own_charset.empty()) charset = own_charset;
    chosen = value;
    if (own_charset.empty() && !charset.empty()) chosen += "; charset=" + charset;
    essence = *type;
  }
  return essence.empty() ? fields.front() : chosen;
}

}  // namespace orbweaver
