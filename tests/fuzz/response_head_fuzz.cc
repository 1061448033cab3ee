// A response's header lines as they arrive, one by one: the bounds hold, and an accepted head is a head for its readers
// too. Also the labels in it: types and charsets.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/charset/charset.h"
#include "node/http/http_message.h"
#include "node/http/response_head.h"

namespace {

using orbweaver::ResponseHead;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_head(std::string_view rest, std::size_t max_bytes) {
  ResponseHead head;
  head.reset(max_bytes);
  while (!rest.empty() && !head.whole()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end == std::string_view::npos ? end : end + 1);
    rest.remove_prefix(line.size());
    const ResponseHead::Verdict verdict = head.take(line);
    require(verdict == head.verdict());
    require(head.text().size() <= head.bytes());
    if (verdict != ResponseHead::Verdict::ok) return;
    require(head.bytes() <= max_bytes);
  }
  require(!head.whole() || (head.status() >= 100 && head.status() <= 599));
}

void check_labels(std::string_view text) {
  const std::string type = orbweaver::media_type(text);
  require(type.size() <= text.size() && orbweaver::media_type(type) == type);
  const auto charset = orbweaver::charset_from_label(text);
  if (!charset) return;
  require(orbweaver::charset_from_label(*charset) == charset);
  (void)orbweaver::make_query_encoder(*charset);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_head(bytes, 64u << 10);
  check_head(bytes, 200);
  check_labels(bytes);
  (void)orbweaver::status_of_line(bytes);
  return 0;
}
