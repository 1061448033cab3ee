#include "node/archive/page_list.h"

#include "node/charset/charset.h"
#include "node/digest/sha256.h"
#include "node/html/main_text.h"
#include "node/http/http_message.h"

namespace orbweaver::archive {

namespace {

// A title is near the beginning of its page.
constexpr std::size_t max_page_bytes = 256u << 10;
constexpr std::size_t max_title_bytes = 1024;

// Cut where a character begins.
std::string shortened(std::string text) {
  if (text.size() <= max_title_bytes) return text;
  std::size_t end = max_title_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string title_of(const Capture& capture) {
  const std::string body = decoded_body(capture.head, capture.body, max_page_bytes, max_page_bytes);
  DecodedText text;
  text.max_storage_bytes = 2 * max_page_bytes;
  decode_html(body, content_type_of(capture.head), text);
  return shortened(html::page_blocks(text.utf8).title);
}

}  // namespace

std::optional<nlohmann::ordered_json> page_of(const Capture& capture) {
  if (capture.status != "200" || (capture.mime != "text/html" && capture.mime != "application/xhtml+xml"))
    return std::nullopt;
  const std::string title = title_of(capture);
  return nlohmann::ordered_json{{"id", sha256_of(capture.url + " " + capture.date).substr(0, 32)},
                                {"url", capture.url},
                                {"ts", capture.date},
                                {"title", title.empty() ? capture.url : title},
                                {"mime", capture.mime},
                                {"status", 200}};
}

}  // namespace orbweaver::archive
