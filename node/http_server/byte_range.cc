#include "node/http_server/byte_range.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace orbweaver {

namespace {

// Digits alone, which fit.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

RangeKind read_range(std::string_view field, std::uint64_t bytes, ByteRange& out) {
  constexpr std::string_view unit = "bytes=";
  const std::size_t dash = field.find('-');
  if (!field.starts_with(unit) || dash == std::string_view::npos) return RangeKind::whole;
  const std::string_view begin = field.substr(unit.size(), dash - unit.size());
  const std::string_view end = field.substr(dash + 1);
  if (begin.empty()) {
    const auto count = number(end);
    if (!count) return RangeKind::whole;
    if (*count == 0 || bytes == 0) return RangeKind::unsatisfiable;
    out.bytes = std::min(*count, bytes);
    out.first = bytes - out.bytes;
    return RangeKind::part;
  }
  const auto first = number(begin);
  const auto last = end.empty() ? std::optional(bytes) : number(end);
  if (!first || !last || (!end.empty() && *last < *first)) return RangeKind::whole;
  if (*first >= bytes) return RangeKind::unsatisfiable;
  out.first = *first;
  out.bytes = std::min(*last, bytes - 1) - *first + 1;
  return RangeKind::part;
}

HttpAnswer content_answer(const RequestHead& head, HttpContent content, const std::string& content_type) {
  const std::uint64_t whole = content.bytes;
  HttpAnswer answer;
  answer.fields = {{"Accept-Ranges", "bytes"}};
  ByteRange range;
  switch (read_range(head.range, whole, range)) {
    case RangeKind::whole:
      break;
    case RangeKind::unsatisfiable:
      answer.status = 416;
      answer.fields.emplace_back("Content-Range", "bytes */" + std::to_string(whole));
      return answer;
    case RangeKind::part:
      answer.status = 206;
      answer.fields.emplace_back("Content-Range", "bytes " + std::to_string(range.first) + "-" +
                                                      std::to_string(range.first + range.bytes - 1) + "/" +
                                                      std::to_string(whole));
      content.read = [read = std::move(content.read), first = range.first](std::uint64_t offset, std::size_t bytes) {
        return read(first + offset, bytes);
      };
      content.bytes = range.bytes;
      break;
  }
  answer.fields.emplace_back("Content-Type", content_type);
  answer.content = std::move(content);
  return answer;
}

}  // namespace orbweaver
