#include "node/http/exchange_words.h"

#include <algorithm>

#include "node/http/http_message.h"

namespace orbweaver {

std::string_view truncated_name(Truncated truncated) {
  switch (truncated) {
    case Truncated::length:
      return "length";
    case Truncated::time:
      return "time";
    case Truncated::disconnect:
      return "disconnect";
    case Truncated::no:
      break;
  }
  return {};
}

std::string as_http_1(std::string_view head) {
  std::string text(head);
  if (text.starts_with("HTTP/2 ")) text.replace(0, 6, "HTTP/1.1");
  const std::size_t line = text.find("\r\n");
  if (line != std::string::npos && line >= 7 && text.compare(line - 7, 7, " HTTP/2") == 0)
    text.replace(line - 7, 7, " HTTP/1.1");
  return text;
}

std::string validator_of(std::string_view head, std::size_t max_bytes) {
  std::string found;
  if (const auto tag = header_value(head, "etag"); tag && (tag->starts_with('"') || tag->starts_with("W/\""))) {
    found = *tag;
  } else if (const auto date = header_value(head, "last-modified"); date && !date->starts_with('"')) {
    found = *date;
  }
  const bool plain = std::all_of(found.begin(), found.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return plain && found.size() <= max_bytes ? found : std::string();
}

}  // namespace orbweaver
