#include "node/http_server/answer_head.h"

#include <strings.h>

#include <algorithm>

namespace orbweaver {

const char* reason_phrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 416:
      return "Range Not Satisfiable";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    default:
      return "Unknown";
  }
}

std::string answer_head(const HttpAnswer& answer, const std::string& kept_seconds, std::size_t max_requests) {
  auto fields = answer.fields;
  if (answer.status != 204 && !answer.more)
    fields.emplace_back("Content-Length", std::to_string(answer.content ? answer.content->bytes : answer.body.size()));
  if (kept_seconds.empty()) {
    fields.emplace_back("Connection", "close");
  } else {
    fields.emplace_back("Keep-Alive", "timeout=" + kept_seconds + ", max=" + std::to_string(max_requests));
  }
  std::stable_sort(fields.begin(), fields.end(),
                   [](const auto& a, const auto& b) { return ::strcasecmp(a.first.c_str(), b.first.c_str()) < 0; });
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + ' ' + reason_phrase(answer.status) + "\r\n";
  for (const auto& [name, value] : fields) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

HttpAnswer text_answer(unsigned status, std::string text) {
  return {.status = status, .fields = {{"Content-Type", "text/plain"}}, .body = std::move(text)};
}

}  // namespace orbweaver
